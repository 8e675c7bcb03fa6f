package limiter

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// floorDiv returns a/b, rounded down.
func floorDiv(a, b Instant) Instant {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// ceil returns the smallest integer that is not below x.
func ceil(x *big.Rat) int64 {
	q, rest := new(big.Int).QuoRem(x.Num(), x.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		return q.Int64() + 1
	}
	return q.Int64()
}

// someNumber returns a number of a random size that is not negative.
func someNumber(r *rand.Rand) int64 {
	return []int64{0, 1, math.MaxInt64, r.Int64() >> r.IntN(63), r.Int64() >> r.IntN(63)}[r.IntN(5)]
}

func TestArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	largest := big.NewInt(math.MaxInt64)
	for range rounds(100_000) {
		x, y, a, z := someNumber(r), someNumber(r), someNumber(r), max(1, someNumber(r))
		product, divisor := new(big.Int).Mul(big.NewInt(x), big.NewInt(y)), big.NewInt(z)
		want, wantRest := new(big.Int).QuoRem(product, divisor, new(big.Int))
		if want.Cmp(largest) > 0 {
			want, wantRest = largest, new(big.Int)
		}
		if q, rest := mulDiv(x, y, z); q != want.Int64() || rest != wantRest.Int64() {
			t.Fatalf("mulDiv(%d, %d, %d) = %d, %d, want %d, %d", x, y, z, q, rest, want, wantRest)
		}
		product.Add(product, big.NewInt(a))
		up := new(big.Int).Quo(product.Add(product, big.NewInt(z-1)), divisor)
		if up.Cmp(largest) > 0 {
			up = largest
		}
		if got := mulAddDivUp(x, y, a, z); got != up.Int64() {
			t.Fatalf("mulAddDivUp(%d, %d, %d, %d) = %d, want %d", x, y, a, z, got, up)
		}
	}
}

func TestFloor(t *testing.T) {
	for _, test := range []struct{ t, want Instant }{{0, 0}, {9, 0}, {10, 10}, {-1, -10}, {-10, -10}, {-11, -20}, {minInstant, minInstant - 6}} {
		if got := test.t.floor(10); got != test.want {
			t.Errorf("%d.floor(10) = %d, want %d", test.t, got, test.want)
		}
	}
}
