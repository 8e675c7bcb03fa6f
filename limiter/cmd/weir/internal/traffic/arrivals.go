package traffic

import (
	"math"
	"math/rand/v2"
	"time"
)

// arrivals are the requests of a source as they come, in microseconds after
// its beginning.
type arrivals interface {
	// next returns the next request and the index of its client, from 0; not
	// ok if there is none any more. Times do not go back.
	next() (at, client int64, ok bool)

	// answer tells what became of the last request.
	answer(a answer)
}

// An answer is what a client makes of the response.
type answer struct {
	refused bool
	wait    time.Duration // as Retry-After says; 0: it says nothing
	took    time.Duration // to the response, if it was admitted
}

// open is for arrivals that no answer changes.
type open struct{}

func (open) answer(answer) {}

// A poisson process: the gaps between requests are exponential.
type poisson struct {
	open
	random  *rand.Rand
	clients *zipf
	rate    float64 // per microsecond
	wave    float64
	day     float64 // the time of day at the beginning, in microseconds
	at      float64
}

func newPoisson(s *Source, random *rand.Rand, begin time.Time) *poisson {
	return &poisson{
		random: random, clients: newZipf(s.clients, s.skew), rate: s.rate / 1e6, wave: s.wave,
		day: float64(begin.UnixMicro() % (24 * time.Hour).Microseconds()),
	}
}

func (p *poisson) next() (at, client int64, ok bool) {
	return p.step(), p.clients.draw(p.random), true
}

// step goes to the next request. A rate that swings is that of its peak, from
// which requests are left out (thinning).
func (p *poisson) step() int64 {
	const period, peak = 24 * 3600e6, 15 * 3600e6
	for {
		p.at += p.random.ExpFloat64() / (p.rate * (1 + p.wave))
		if p.wave == 0 {
			break
		}
		now := 1 + p.wave*math.Cos(2*math.Pi*(p.day+p.at-peak)/period)
		if p.random.Float64()*(1+p.wave) < now {
			break
		}
	}
	return int64(p.at)
}

// A flood is a poisson process in which every client comes once.
type flood struct {
	poisson
	count int64
}

func (f *flood) next() (at, client int64, ok bool) {
	f.count++
	return f.step(), f.count - 1, true
}

// A burst comes again and again; its clients take turns.
type burst struct {
	open
	size, clients, every, spread int64
	begin, count                 int64 // of the current burst
}

func newBurst(s *Source) *burst {
	return &burst{size: s.size, clients: s.clients, every: s.every.Microseconds(), spread: s.spread.Microseconds()}
}

func (b *burst) next() (at, client int64, ok bool) {
	if b.count == b.size {
		if b.every == 0 {
			return 0, 0, false
		}
		b.begin += b.every
		b.count = 0
	}
	at = b.begin + b.spread/b.size*b.count + b.spread%b.size*b.count/b.size
	client = b.count % b.clients
	b.count++
	return at, client, true
}
