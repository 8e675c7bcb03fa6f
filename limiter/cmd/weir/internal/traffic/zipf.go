package traffic

import (
	"math"
	"math/rand/v2"
)

// A zipf draws ranks from 0 in constant time: rank r with a probability
// proportional to 1/(r+1)^skew. It is Walker's alias method: each of n columns
// of equal width is cut in two, one part for its own rank and one for another.
// (The Zipf of math/rand has no skew up to 1.)
type zipf struct {
	n     float64
	own   []float64 // the part of a column that is its own rank's
	alias []int32   // whose the rest is
}

func newZipf(n int64, skew float64) *zipf {
	z := &zipf{n: float64(n)}
	if skew == 0 {
		return z
	}
	z.own, z.alias = make([]float64, n), make([]int32, n)
	sum := 0.0
	for r := range z.own {
		z.own[r] = math.Pow(float64(r+1), -skew)
		sum += z.own[r]
	}
	var small, large []int32 // columns not yet full, and those with too much
	for r := range z.own {
		if z.own[r] *= z.n / sum; z.own[r] < 1 {
			small = append(small, int32(r))
		} else {
			large = append(large, int32(r))
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		z.alias[s] = l
		if z.own[l] -= 1 - z.own[s]; z.own[l] < 1 {
			large, small = large[:len(large)-1], append(small, l)
		}
	}
	for _, r := range append(small, large...) { // full, but for rounding
		z.own[r] = 1
	}
	return z
}

func (z *zipf) draw(random *rand.Rand) int64 {
	at := random.Float64() * z.n
	column := int64(at)
	if z.own != nil && at-float64(column) >= z.own[column] {
		return int64(z.alias[column])
	}
	return column
}
