package e2e

import (
	"flag"
	"os"
	"testing"
	"time"

	"github.com/weirproxy/weir/e2e/scenario"
)

const (
	modulePath = "../build/weir.wasm"
	ladderPath = "../limiter/testdata/ladder.json"
)

// long runs the tests of endurance at full length, for make flood and make
// soak; without it they are as short as shows that they work.
var long = flag.Bool("long", false, "run the tests of endurance at full length")

// readModule returns the built module.
func readModule(t testing.TB) []byte {
	t.Helper()
	module, err := os.ReadFile(modulePath)
	if err != nil {
		t.Fatalf("%v: make build makes it", err)
	}
	return module
}

// scenarios returns all scenarios, the traces in the given unit.
func scenarios(t testing.TB, unit func(window int64) time.Duration) []scenario.Scenario {
	t.Helper()
	all, err := scenario.Load(os.DirFS(".."), "e2e/scenarios")
	if err != nil {
		t.Fatal(err)
	}
	ladder, err := os.ReadFile(ladderPath)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := scenario.Ladder(ladder, unit)
	if err != nil {
		t.Fatal(err)
	}
	if len(traces) < 11 {
		t.Fatalf("only %d traces", len(traces))
	}
	return append(all, traces...)
}

// slow is more than a step of a test takes on a busy machine, for
// [scenario.Near].
const slow = time.Minute

// seconds lets the unit of every trace be a second.
func seconds(int64) time.Duration { return time.Second }
