package wasmhost

import (
	"context"
	"fmt"
	"time"
)

// Plugin is one configured filter, as an entry of a filter chain defines it.
type Plugin struct {
	RootID        string
	Configuration []byte
}

// PluginContext is a plugin at work in a VM: its root context.
type PluginContext struct {
	vm          *VM
	id          uint32
	plugin      Plugin
	configuring bool // the guest may read its configuration
	tickPeriod  time.Duration
}

// AddPlugin starts a plugin in the VM, beside those that are there: filters with
// the same vm_id and code share the VM of each worker. Only the first of them
// starts the VM.
func (vm *VM) AddPlugin(ctx context.Context, plugin Plugin) (*PluginContext, error) {
	p := &PluginContext{vm: vm, id: vm.nextID(), plugin: plugin}
	vm.plugins[p.id] = p
	mark := vm.host.logMark()
	accepted, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	if !accepted {
		delete(vm.plugins, p.id)
		return nil, fmt.Errorf("plugin %q refused to start%s", plugin.RootID, vm.loggedSince(mark))
	}
	return p, nil
}

// start makes the root context, then starts the VM, then configures, as Envoy
// does: the guest's root context is there before the VM "starts".
func (p *PluginContext) start(ctx context.Context) (accepted bool, err error) {
	p.configuring = true
	_, err = p.vm.call(ctx, "proxy_on_context_create", 0, p.id, 0)
	p.configuring = false
	if err != nil {
		return false, err
	}
	if p.vm.first == nil {
		started, err := p.vm.call(ctx, "proxy_on_vm_start", 1, p.id, 0)
		if err != nil || started == 0 {
			return false, err
		}
	}
	p.configuring = true
	configured, err := p.vm.call(ctx, "proxy_on_configure", 1, p.id, uint64(len(p.plugin.Configuration)))
	p.configuring = false
	return configured != 0, err
}

// Tick lets the plugin's timer fire.
func (p *PluginContext) Tick(ctx context.Context) error {
	if _, err := p.vm.call(ctx, "proxy_on_tick", 0, p.id); err != nil {
		return err
	}
	return p.vm.carryOn(ctx)
}

// TickPeriod is the period the plugin asked for, or 0.
func (p *PluginContext) TickPeriod() time.Duration { return p.tickPeriod }

// Do runs one request through the plugin's filter: the guest sees its headers,
// then those of the response, which is the upstream's or the guest's own, then
// the end of the stream. If the guest lets the request wait, the client goes. The
// error says that the guest trapped.
func (p *PluginContext) Do(ctx context.Context, request Request) (Response, error) {
	e, err := p.Begin(ctx, request)
	if err != nil {
		return Response{}, err
	}
	if err := e.Leave(ctx); err != nil {
		return Response{}, err
	}
	return e.Response(), nil
}

// Remove ends the plugin, as a new configuration does once no request is left.
// Its calls are cancelled.
func (p *PluginContext) Remove(ctx context.Context) error {
	if _, err := p.vm.call(ctx, "proxy_on_done", 1, p.id); err != nil {
		return err
	}
	_, err := p.vm.call(ctx, "proxy_on_delete", 0, p.id)
	p.cancel()
	delete(p.vm.plugins, p.id)
	return err
}
