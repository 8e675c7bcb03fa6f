package traffic

import (
	"math"
	"testing"
	"time"
)

// arrival is a request that came, in microseconds after the start.
type arrival struct{ at, client int64 }

func arrive(t *testing.T, length time.Duration, specs ...string) (all []arrival) {
	t.Helper()
	g := New(mustParse(t, specs...), Options{Start: start, For: length, Seed: 42})
	for at, r := g.Next(); r != nil; at, r = g.Next() {
		all = append(all, arrival{int64(at) - start.UnixMicro(), r.client})
	}
	return all
}

// near fails unless a count is within so many of its deviations of the mean.
// The seed is fixed, so that it fails always or never.
func near(t *testing.T, what string, got int, mean, deviation float64) {
	t.Helper()
	if math.Abs(float64(got)-mean) > 4*deviation {
		t.Errorf("%s: %d, want %.0f give or take %.0f", what, got, mean, 4*deviation)
	}
}

// TestPoisson holds arrivals to what defines them: their number in disjoint
// times is of the mean and of the variance of the rate, gaps are exponential,
// and clients alike.
func TestPoisson(t *testing.T) {
	const rate, seconds, clients = 50.0, 2000, 8
	all := arrive(t, seconds*time.Second, "poisson,rate=50,clients=8")
	near(t, "requests", len(all), rate*seconds, math.Sqrt(rate*seconds))
	perSecond, perClient := map[int64]int{}, map[int64]int{}
	long, last := 0, int64(0)
	for _, a := range all {
		perSecond[a.at/1e6]++
		perClient[a.client]++
		if a.at-last > 20_000 {
			long++
		}
		last = a.at
	}
	variance := 0.0
	for s := range int64(seconds) {
		variance += (float64(perSecond[s]) - rate) * (float64(perSecond[s]) - rate) / seconds
	}
	if math.Abs(variance/rate-1) > 0.15 {
		t.Errorf("the variance of a second is %.1f, want %.1f", variance, rate)
	}
	n := float64(len(all))
	near(t, "gaps above the mean", long, n/math.E, math.Sqrt(n/math.E*(1-1/math.E)))
	if len(perClient) != clients {
		t.Errorf("%d clients", len(perClient))
	}
	for client, count := range perClient {
		near(t, "requests of a client", count, n/clients, math.Sqrt(n/clients))
		if client < 1 || client > clients {
			t.Errorf("client %d", client)
		}
	}
}

// TestPoissonSkew holds the shares of clients to Zipf's law.
func TestPoissonSkew(t *testing.T) {
	for _, skew := range []struct {
		text string
		of   float64
	}{{"0.5", 0.5}, {"1", 1}, {"2", 2}} {
		all := arrive(t, 1000*time.Second, "poisson,rate=100,clients=50,skew="+skew.text)
		count, sum := map[int64]int{}, 0.0
		for _, a := range all {
			count[a.client]++
		}
		for r := range 50 {
			sum += math.Pow(float64(r+1), -skew.of)
		}
		for r := range 50 {
			share := math.Pow(float64(r+1), -skew.of) / sum
			mean := share * float64(len(all))
			near(t, "skew "+skew.text, count[int64(r+1)], mean, math.Sqrt(mean))
		}
	}
}

// TestPoissonWave holds the rate over two days to a cosine with its peak at
// 15:00, and with its mean.
func TestPoissonWave(t *testing.T) {
	const rate, wave = 2.0, 0.8
	all := arrive(t, 48*time.Hour, "poisson,rate=2,wave=0.8")
	near(t, "requests", len(all), rate*48*3600, math.Sqrt(rate*48*3600))
	perHour := map[int64]int{}
	for _, a := range all {
		perHour[a.at/3600e6%24]++
	}
	for h := range int64(24) {
		mean := 2 * 3600 * rate * (1 + wave*math.Cos(2*math.Pi*(float64(h)+0.5-15)/24))
		near(t, "requests of an hour", perHour[h], mean, math.Sqrt(mean))
	}
}

// TestWaveFollowsTheClock starts a wave at another time of day.
func TestWaveFollowsTheClock(t *testing.T) {
	all := arrive(t, 16*time.Hour, "poisson,rate=1,wave=1,start=14h30m,for=1h")
	near(t, "requests at the peak", len(all), 2*3600, math.Sqrt(2*3600))
	all = arrive(t, 16*time.Hour, "poisson,rate=1,wave=1,start=2h30m,for=1h")
	near(t, "requests at the trough", len(all), 3600*math.Pi*math.Pi/6/24/24, 6)
}

func TestFlood(t *testing.T) {
	all := arrive(t, 10*time.Second, "poisson,rate=10,clients=5", "flood,rate=1000", "flood,rate=500")
	seen := map[int64]bool{}
	flooded := 0
	for _, a := range all {
		if a.client <= 5 {
			continue
		}
		if seen[a.client] {
			t.Fatalf("client %d comes twice", a.client)
		}
		seen[a.client] = true
		flooded++
	}
	near(t, "requests", flooded, 15000, math.Sqrt(15000))
	if !seen[6] || !seen[7] {
		t.Error("the floods do not begin after the clients before them")
	}
}

func TestBurst(t *testing.T) {
	all := arrive(t, 25*time.Second, "burst,size=7,every=10s,spread=1s,clients=3,start=2s")
	var want []arrival
	for _, begin := range []int64{2e6, 12e6, 22e6} {
		for i := range int64(7) {
			want = append(want, arrival{begin + i*1e6/7, 1 + i%3})
		}
	}
	if len(all) != len(want) {
		t.Fatalf("%d requests, want %d", len(all), len(want))
	}
	for i := range want {
		if d := all[i].at - want[i].at; all[i].client != want[i].client || d < -1 || d > 0 {
			t.Errorf("request %d: got %v, want %v", i, all[i], want[i])
		}
	}
	if all := arrive(t, time.Hour, "burst,size=5"); len(all) != 5 || all[4].at != 0 {
		t.Errorf("a burst by itself: %v", all)
	}
}

// TestBounds holds sources to their times, whose beginnings are in and whose
// ends are not.
func TestBounds(t *testing.T) {
	if all := arrive(t, 10*time.Second, "burst,size=1,every=1s,start=3s,for=4s"); len(all) != 4 || all[0].at != 3e6 || all[3].at != 6e6 {
		t.Errorf("got %v", all)
	}
	if all := arrive(t, 10*time.Second, "burst,size=1,every=1s,start=8s,for=4s"); len(all) != 2 {
		t.Errorf("got %v", all)
	}
	if all := arrive(t, 10*time.Second, "flood,rate=1000,start=10s"); len(all) != 0 {
		t.Errorf("got %v", all)
	}
}
