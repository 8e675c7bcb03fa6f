package traffic

import (
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// Options are those of a Generator.
type Options struct {
	// Start is the time at which all begins; instants are microseconds of the
	// Unix epoch.
	Start time.Time

	// For is how long it goes on; 0: without end.
	For time.Duration

	// Seed decides all that is random.
	Seed uint64

	// Longest is the longest duration of a request; 0: any.
	Longest time.Duration

	// Names are the parts of requests that hold the client's name; nil: none.
	Names *Names
}

// A Generator merges the requests of sources in the order of time. Requests of
// the same time come in the order of their sources.
type Generator struct {
	flows   []*flow
	options Options
	request Request // the last
	from    *flow   // where it came from; nil: it has been answered
}

// A flow is a source at work.
type flow struct {
	source      *Source
	arrivals    arrivals
	random      *rand.Rand
	begin, end  limiter.Instant
	first, step int64 // the numbers of its clients

	at     limiter.Instant // of the next request
	client int64
	done   bool // there is none
}

// New returns a generator of all the sources.
func New(sources []Source, o Options) *Generator {
	g := &Generator{options: o}
	next := int64(1) // number of the next client
	var floods []*flow
	for i := range sources {
		f := newFlow(&sources[i], rand.New(rand.NewPCG(o.Seed, uint64(i))), o)
		g.flows = append(g.flows, f)
		if f.source.kind == "flood" {
			floods = append(floods, f)
			continue
		}
		if f.first, f.step = f.source.first, 1; f.first == 0 {
			f.first = next
		}
		next = max(next, f.first+f.source.clients)
	}
	for i, f := range floods { // which share the numbers that are left
		f.first, f.step = next+int64(i), int64(len(floods))
	}
	return g
}

// newFlow lets a source begin.
func newFlow(s *Source, random *rand.Rand, o Options) *flow {
	begin := o.Start.Add(s.start)
	f := &flow{source: s, random: random, begin: instant(begin), end: math.MaxInt64}
	if o.For > 0 {
		f.end = instant(o.Start.Add(o.For))
	}
	if s.length > 0 {
		f.end = min(f.end, instant(begin.Add(s.length)))
	}
	switch s.kind {
	case "poisson":
		f.arrivals = newPoisson(s, random, begin)
	case "burst":
		f.arrivals = newBurst(s)
	case "retry":
		f.arrivals = newRetry(s, random)
	case "flood":
		f.arrivals = &flood{poisson: *newPoisson(s, random, begin)}
	}
	f.advance()
	return f
}

func instant(t time.Time) limiter.Instant { return limiter.Instant(t.UnixMicro()) }

// advance finds the next request.
func (f *flow) advance() {
	at, client, ok := f.arrivals.next()
	f.at, f.client = f.begin+limiter.Instant(at), client
	f.done = !ok || f.at >= f.end
}

// Next returns the next request and its time, or nil if there is none any
// more. The request is valid until the next call. If it has not been answered
// by then, it has been admitted.
func (g *Generator) Next() (limiter.Instant, *Request) {
	if g.from != nil {
		g.settle(answer{took: g.request.duration})
	}
	for _, f := range g.flows {
		if !f.done && (g.from == nil || f.at < g.from.at) {
			g.from = f
		}
	}
	if g.from == nil {
		return 0, nil
	}
	g.draw(g.from)
	return g.from.at, &g.request
}

// Answer tells the client of the last request what was decided. It may be
// called once for each.
func (g *Generator) Answer(v *policy.Verdict) {
	if g.from == nil {
		return
	}
	a := answer{took: g.request.duration}
	if v.Reply != nil {
		a.refused = true
		for _, h := range v.Reply.Headers {
			if h[0] == "retry-after" {
				seconds, _ := strconv.Atoi(h[1]) // which Weir writes as a number
				a.wait = time.Duration(seconds) * time.Second
			}
		}
	}
	g.settle(a)
}

// settle answers the last request and looks for the next of its source.
func (g *Generator) settle(a answer) {
	g.from.arrivals.answer(a)
	g.from.advance()
	g.from = nil
}

// draw makes up the request that a flow has next.
func (g *Generator) draw(f *flow) {
	s, r := f.source, &g.request
	*r = Request{source: s, names: g.options.Names, client: f.first + f.client*f.step, method: s.method, path: s.path, status: s.status}
	if r.path == "" {
		p := theShop().draw(f.random)
		r.path, r.bytes = p.path, p.bytes
		if r.method == "" {
			r.method = p.method
		}
	} else if r.bytes = 1200; r.method == "" {
		r.method = "GET"
	}
	if r.status == "" {
		r.status = drawStatus(f.random, r.method)
	}
	const deviation = 0.7
	took := float64(s.latency) * math.Exp(deviation*f.random.NormFloat64())
	r.duration = time.Duration(took).Truncate(time.Microsecond)
	if longest := g.options.Longest; longest > 0 {
		r.duration = min(r.duration, longest)
	}
}
