package engine_test

import (
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/weirproxy/weir/limiter"
)

// TestMulDiv holds the product of arithmetic.lua to numbers without bounds, around
// the ends of what its operands may be.
func TestMulDiv(t *testing.T) {
	s := load(t, server)
	arithmetic, err := os.ReadFile("../../limiter/global/arithmetic.lua")
	if err != nil {
		t.Fatal(err)
	}
	s.sha, err = s.ScriptLoad(t.Context(), string(arithmetic)+`
local quotient, rest = mulDiv(tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3]))
return {quotient, rest}`).Result()
	if err != nil {
		t.Fatal(err)
	}
	const exact = 1 << 53
	window := limiter.MaxWindow.Microseconds()
	r := rand.New(rand.NewPCG(1, 1))
	// below returns a number of 1..most, of any size, and often the largest.
	below := func(most int64) int64 {
		n := max(1, most>>r.IntN(54))
		return n - r.Int64N(min(n, []int64{1, 3, n}[r.IntN(3)]))
	}
	var pipe redis.Pipeliner
	var cmds []*redis.Cmd
	var want [][2]int64
	var args [][]any
	pipe = s.Pipeline()
	for range 20_000 {
		x, y, z := below(exact-1), below(exact-1), below(window)
		if r.IntN(2) == 0 {
			x = below(z) // so that the quotient is in range
		}
		product := new(big.Int).Mul(big.NewInt(x), big.NewInt(y))
		quotient, rest := product.QuoRem(product, big.NewInt(z), new(big.Int))
		if quotient.Cmp(big.NewInt(exact)) >= 0 {
			quotient.SetInt64(exact)
		}
		want = append(want, [2]int64{quotient.Int64(), rest.Int64()})
		args = append(args, []any{x, y, z})
		cmds = append(cmds, pipe.EvalSha(t.Context(), s.sha, nil, x, y, z))
	}
	if _, err := pipe.Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	bounded := 0
	for i, cmd := range cmds {
		got, err := cmd.Int64Slice()
		if err != nil || len(got) != 2 || [2]int64(got) != want[i] {
			t.Fatalf("mulDiv%v = %d, %v, want %d", args[i], got, err, want[i])
		}
		if want[i][0] == exact {
			bounded++
		}
	}
	if bounded < 1000 || bounded > 15_000 {
		t.Errorf("%d of %d quotients were out of range", bounded, len(cmds))
	}
}
