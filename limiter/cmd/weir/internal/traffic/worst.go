package traffic

import (
	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// A Worst follows what is admitted, and knows for each limit the most units of
// one key that any window of its length has held, wherever the window begins:
// what an algorithm lets through, not what it counts. A window holds what came
// at its beginning, and not what comes at its end.
//
// What came before a limit's window, and is followed by nothing, is forgotten;
// so its memory grows with the requests that one window holds.
type Worst struct {
	rules []*policy.Rule
	most  [][]*most // of each limit of each
}

// NewWorst returns a Worst of the limits of the rules of the policy that decides.
// Keys that an
// override holds to other limits are left out, as are rules that charge
// responses, whose units are not known when the request is admitted.
func NewWorst(p *policy.Policy) *Worst {
	w := &Worst{rules: p.Rules}
	for _, rule := range p.Rules {
		var list []*most
		for _, l := range rule.Limits() {
			list = append(list, &most{window: l.Window.Microseconds(), keys: map[limiter.Fingerprint]*recent{}})
		}
		w.most = append(w.most, list)
	}
	return w
}

// Note takes note of the verdict on a request that came at a time. Times must
// not go back. A rule in shadow is followed as if it were enforced: it admits
// what it does not refuse.
func (w *Worst) Note(at limiter.Instant, v *policy.Verdict) {
	if v.Reply != nil {
		return
	}
	for i := range v.Outcomes {
		o := &v.Outcomes[i]
		c := o.Charge
		admits := o.Kind == policy.Allowed || o.Kind == policy.Full
		if c == nil || !admits || c.PeekOnly || w.rules[o.Rule].Overrides(c) {
			continue
		}
		for _, m := range w.most[o.Rule] {
			m.add(int64(at), c.Key, c.Cost)
		}
	}
}

// Of returns the most units of one key in a window of a limit, by the index of
// its rule and its own; 0 if nothing was admitted.
func (w *Worst) Of(rule, limit int) int64 { return w.most[rule][limit].units }

// most is that of one limit.
type most struct {
	window int64 // in microseconds
	units  int64
	keys   map[limiter.Fingerprint]*recent
	swept  int // keys that were left by the last sweep
}

// recent is what one key was admitted within the latest window.
type recent struct {
	admitted []admission
	gone     int   // of the admitted: how many have left
	units    int64 // of the others
}

// An admission is of all the requests of one moment.
type admission struct{ at, units int64 }

func (m *most) add(at int64, key limiter.Fingerprint, units int64) {
	r := m.keys[key]
	if r == nil {
		if len(m.keys) > 2*m.swept+1024 {
			m.sweep(at)
		}
		r = &recent{}
		m.keys[key] = r
	}
	r.add(at, units, m.window)
	m.units = max(m.units, r.units)
}

// sweep forgets the keys whose windows are over.
func (m *most) sweep(at int64) {
	for key, r := range m.keys {
		if at-r.admitted[len(r.admitted)-1].at >= m.window {
			delete(m.keys, key)
		}
	}
	m.swept = len(m.keys)
}

func (r *recent) add(at, units, window int64) {
	for r.gone < len(r.admitted) && at-r.admitted[r.gone].at >= window {
		r.units -= r.admitted[r.gone].units
		r.gone++
	}
	if r.gone > len(r.admitted)/2 {
		r.admitted = r.admitted[:copy(r.admitted, r.admitted[r.gone:])]
		r.gone = 0
	}
	r.units += units
	if last := len(r.admitted) - 1; last >= 0 && r.admitted[last].at == at {
		r.admitted[last].units += units
		return
	}
	r.admitted = append(r.admitted, admission{at, units})
}
