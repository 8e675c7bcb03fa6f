package scenario

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"
)

// A trace is the part of an entry of ladder.json that requests can show: who
// is admitted, and for how long a refusal lasts.
type trace struct {
	Name        string
	Algorithm   string
	Limit       int64
	Window      int64
	Rate, Burst int64 // of a bucket, per time unit
	Inclusive   bool
	Steps       [][3]any // key, time, admitted
	RetryAfter  []int64  `json:"retry_after"`
	Admits      []struct {
		At, Requests, Admitted int64
	}
	SameTraffic map[string]any `json:"same_traffic"` // what another algorithm admits
}

// Ladder turns the traces of ladder.json into scenarios. Unit says how long
// the time unit of a trace with the given window is to last.
func Ladder(data []byte, unit func(window int64) time.Duration) ([]Scenario, error) {
	var ladder struct{ Traces []trace }
	if err := json.Unmarshal(data, &ladder); err != nil {
		return nil, err
	}
	var all []Scenario
	for _, tr := range ladder.Traces {
		u := unit(tr.Window)
		switch {
		case tr.Steps != nil:
			all = append(all, tr.scenario(u))
		case tr.Admits != nil:
			all = append(all, tr.bursts(u, tr.Algorithm, nil))
			for algorithm, admitted := range tr.SameTraffic {
				if counts, ok := admitted.([]any); ok { // else it is told in words
					all = append(all, tr.bursts(u, algorithm, counts))
				}
			}
		default:
			return nil, fmt.Errorf("trace %q: neither steps nor bursts", tr.Name)
		}
	}
	return all, nil
}

// limit is the trace's limit in the filter's JSON.
func (tr trace) limit(u time.Duration, algorithm string) json.RawMessage {
	limit := map[string]any{"algorithm": algorithm, "requests": tr.Limit, "window": (time.Duration(tr.Window) * u).String()}
	if tr.Inclusive {
		limit["inclusive"] = true
	}
	if tr.Burst > 0 {
		limit["requests"], limit["window"], limit["burst"] = tr.Rate, u.String(), tr.Burst
	}
	config, err := json.Marshal(map[string]any{"rules": []any{map[string]any{
		"name": "trace", "key": []any{map[string]string{"header": "x-key"}}, "limits": []any{limit}}}})
	if err != nil {
		panic(err) // of strings and numbers
	}
	return config
}

func (tr trace) scenario(u time.Duration) Scenario {
	s := Scenario{Name: "ladder-" + tr.Name, Exact: tr.Inclusive, Config: tr.limit(u, tr.Algorithm)}
	for i, step := range tr.Steps {
		next := newStep(step[0].(string), time.Duration(step[1].(float64))*u, step[2].(bool))
		if tr.RetryAfter != nil && next.Want.Status == 429 {
			wait := time.Duration(tr.RetryAfter[i]) * u
			seconds := max(1, int64((wait+time.Second-1)/time.Second))
			next.Want.Headers = map[string]string{"retry-after": strconv.FormatInt(seconds, 10)}
		}
		s.Steps = append(s.Steps, next)
	}
	return s
}

// bursts admits so many of many requests at once, of the trace or of another
// algorithm. Where the windows lie is known only of a clock that can be set.
func (tr trace) bursts(u time.Duration, algorithm string, counts []any) Scenario {
	s := Scenario{Name: "ladder-" + tr.Name + "-" + algorithm, Exact: true, Config: tr.limit(u, algorithm)}
	for i, burst := range tr.Admits {
		admitted := burst.Admitted
		if counts != nil {
			admitted = int64(counts[i].(float64))
		}
		for n := range burst.Requests {
			s.Steps = append(s.Steps, newStep("k", time.Duration(burst.At)*u, n < admitted))
		}
	}
	return s
}

func newStep(key string, at time.Duration, admitted bool) Step {
	s := Step{At: Duration(at), Want: Want{Status: 200}}
	if !admitted {
		s.Want.Status = 429
	}
	s.Request.Headers = [][2]string{{"x-key", key}}
	s.fill()
	return s
}
