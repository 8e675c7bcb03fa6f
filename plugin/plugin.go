//go:build wasip1

package main

import (
	"errors"

	"github.com/weirproxy/weir/limiter"
	"github.com/weirproxy/weir/limiter/policy"
)

// Idle keys are swept once a second, a 64th of the shards at a time, so that
// a key is forgotten about a minute after its quota is whole.
const (
	tickMilliseconds = 1000
	ticksPerSweep    = 64
)

// A plugin is one configuration in one VM.
type plugin struct {
	evaluator *policy.Evaluator
	table     *limiter.Table
	metrics   metrics
	request   hostRequest
	global    *policy.Global // the engine; nil if no rule asks one
	calls     int            // to it that it has not answered
	message   []byte         // memory for what it is sent
	idle      []*stream      // memory for streams to come
	pairs     []byte         // memory for the headers of a reply
	sweep     round
	complain  bool // an error may be logged: at most one a tick
}

// onConfigure starts the plugin, in every VM and again for every new
// configuration, and so touches no window. What it refuses the proxy does not
// put to use.
func (p *plugin) onConfigure() (started bool) {
	defer func() {
		if cause := recover(); cause != nil {
			log(critical, "weir: cannot start: "+policy.Recovered(cause).Error())
			started = false
		}
	}()
	if err := p.start(); err != nil {
		log(critical, "weir: cannot start: "+err.Error())
		return false
	}
	return true
}

func (p *plugin) start() error {
	configuration, err := buffer(configuration)
	if err != nil {
		return err
	}
	rootID, err := property("plugin_root_id")
	if err != nil {
		return err
	}
	compiled, err := policy.Compile(configuration, rootID)
	if err != nil {
		return errors.New("the configuration is refused: " + err.Error())
	}
	seed, err := sharedSeed()
	if err != nil {
		return err
	}
	options := compiled.TableOptions(seed)
	store := newSharedData(compiled.Namespace, limiter.Shards(options.MaxKeys))
	if p.table, err = limiter.NewTable(store, options); err != nil {
		return err
	}
	p.evaluator = policy.NewEvaluator(compiled, p.table)
	p.metrics, p.global = defineMetrics(compiled), compiled.Global
	p.complain = true
	return setTickPeriod(tickMilliseconds)
}

// count adds up a verdict, and reports its error.
func (p *plugin) count(v *policy.Verdict) {
	p.metrics.count(v)
	if v.Err != nil {
		p.report(v.Err)
	}
}

// A round is one sweep over all shards, a part a tick.
type round struct {
	visited uint32
	live    int
}

// onTick sweeps some shards.
func (p *plugin) onTick() {
	defer func() {
		if cause := recover(); cause != nil {
			p.report(errors.New("sweep: " + policy.Recovered(cause).Error()))
		}
	}()
	p.complain = true
	at, err := now()
	if err != nil {
		p.report(err)
		return
	}
	part := max(1, p.table.Shards()/ticksPerSweep)
	found, err := p.table.Sweep(at, part)
	p.metrics.corrupt.add(found.Corrupt)
	if err != nil {
		p.report(errors.New("sweep: " + err.Error()))
		p.sweep = round{}
		return
	}
	p.sweep.visited += part
	p.sweep.live += found.Live
	if p.sweep.visited >= p.table.Shards() {
		p.metrics.tracked.record(p.sweep.live)
		p.sweep = round{}
	}
}

// report counts an error, and logs it unless one was logged since the last
// tick: a host that fails does so on every request.
func (p *plugin) report(err error) {
	p.metrics.errors.add(1)
	if p.complain {
		p.complain = false
		log(severe, "weir: "+err.Error())
	}
}
