//go:build wasip1

package main

import (
	"fmt"

	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm"
	"github.com/proxy-wasm/proxy-wasm-go-sdk/proxywasm/types"

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
	types.DefaultPluginContext
	evaluator *policy.Evaluator
	table     *limiter.Table
	metrics   metrics
	shared    *stream   // of all requests, if responses do not matter
	idle      []*stream // else those that wait for one
	pairs     []byte    // memory for the headers of a reply
	sweep     round
	complain  bool // an error may be logged: at most one a tick
}

// OnPluginStart implements types.PluginContext. It runs in every VM and again
// for every new configuration, and so touches no window. What it refuses the
// proxy does not put to use.
func (p *plugin) OnPluginStart(int) (started types.OnPluginStartStatus) {
	defer func() {
		if cause := recover(); cause != nil {
			proxywasm.LogCritical(fmt.Sprint("weir: cannot start: panic: ", cause))
			started = types.OnPluginStartStatusFailed
		}
	}()
	if err := p.start(); err != nil {
		proxywasm.LogCritical("weir: cannot start: " + err.Error())
		return types.OnPluginStartStatusFailed
	}
	return types.OnPluginStartStatusOK
}

func (p *plugin) start() error {
	p.shared, p.idle = nil, nil // a host may configure a context twice
	// Without a configuration the host has nothing to give, which is an error
	// to the SDK; the compiler has the better words for it.
	configuration, _ := proxywasm.GetPluginConfiguration()
	rootID, err := property("plugin_root_id")
	if err != nil {
		return err
	}
	compiled, err := policy.Compile(configuration, rootID)
	if err != nil {
		return fmt.Errorf("the configuration is refused: %w", err)
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
	p.metrics = defineMetrics(compiled)
	if !compiled.NeedsResponse() {
		p.shared = &stream{plugin: p}
	}
	p.complain = true
	return proxywasm.SetTickPeriodMilliSeconds(tickMilliseconds)
}

// NewHttpContext implements types.PluginContext.
func (p *plugin) NewHttpContext(uint32) types.HttpContext {
	if p.shared != nil {
		return p.shared
	}
	last := len(p.idle) - 1
	if last < 0 {
		return &stream{plugin: p}
	}
	s := p.idle[last]
	p.idle = p.idle[:last]
	return s
}

// release takes a stream back when it is done.
func (p *plugin) release(s *stream) {
	if s != p.shared {
		s.headers, s.deferred = s.headers[:0], s.deferred[:0]
		p.idle = append(p.idle, s)
	}
}

// count adds up a verdict, and reports its error.
func (p *plugin) count(v policy.Verdict) {
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

// OnTick implements types.PluginContext.
func (p *plugin) OnTick() {
	defer func() {
		if cause := recover(); cause != nil {
			p.report(fmt.Errorf("sweep: panic: %v", cause))
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
		p.report(fmt.Errorf("sweep: %w", err))
		return
	}
	p.sweep.visited += part
	p.sweep.live += found.Live
	if p.sweep.visited >= p.table.Shards() {
		p.metrics.tracked.record(p.sweep.live)
		p.sweep = round{}
	}
}

// report logs an error, unless one was logged since the last tick: a host that
// fails does so on every request.
func (p *plugin) report(err error) {
	if p.complain {
		p.complain = false
		proxywasm.LogError("weir: " + err.Error())
	}
}
