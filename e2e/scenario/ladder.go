package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A ladder is the part of ladder.json that requests can show: who is admitted
// and for how long a refusal lasts.
type ladder struct {
	Traces []struct {
		Name       string
		Algorithm  string
		Limit      int64
		Window     int64
		Inclusive  bool
		Steps      [][3]any // key, time, admitted
		RetryAfter []int64  `json:"retry_after"`
	}
}

// Ladder turns the traces of ladder.json for the given algorithm into
// scenarios. Unit says how long the time unit of a trace is to last.
func Ladder(data []byte, algorithm string, unit func(window int64) time.Duration) ([]Scenario, error) {
	var l ladder
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, err
	}
	var all []Scenario
	for _, tr := range l.Traces {
		if tr.Algorithm != algorithm || tr.Steps == nil {
			continue
		}
		u := unit(tr.Window)
		s := Scenario{Name: "ladder-" + tr.Name, Exact: tr.Inclusive}
		s.Config = fmt.Appendf(nil, `{"rules": [{"name": "trace", "key": [{"header": "x-key"}],
			"limits": [{"requests": %d, "window": %q, "algorithm": %q, "inclusive": %v}]}]}`,
			tr.Limit, time.Duration(tr.Window)*u, tr.Algorithm, tr.Inclusive)
		for i, step := range tr.Steps {
			key, at, admitted := step[0].(string), step[1].(float64), step[2].(bool)
			next := Step{At: Duration(time.Duration(at) * u), Want: Want{Status: 200}}
			next.Request.Headers = [][2]string{{"x-key", key}}
			next.Request.fill()
			if !admitted {
				next.Want.Status = 429
			}
			if tr.RetryAfter != nil && !admitted {
				wait := time.Duration(tr.RetryAfter[i]) * u
				seconds := max(1, int64((wait+time.Second-1)/time.Second))
				next.Want.Headers = map[string]string{"retry-after": strconv.FormatInt(seconds, 10)}
			}
			s.Steps = append(s.Steps, next)
		}
		all = append(all, s)
	}
	return all, nil
}
