package wasmhost

import (
	"context"
	"maps"
	"slices"
)

// Exchange is a request under way, which may wait for the answer to a call.
type Exchange struct{ stream *stream }

// Begin lets the plugin see a request, which goes as far as it can without the
// answer to a call. The error says that the guest trapped.
func (p *PluginContext) Begin(ctx context.Context, request Request) (*Exchange, error) {
	s := newStream(p, request)
	p.vm.streams[s.id] = s
	if _, err := p.vm.call(ctx, "proxy_on_context_create", 0, s.id, uint64(p.id)); err != nil {
		return nil, err
	}
	return &Exchange{s}, s.run(ctx)
}

// Over says whether the request has its response.
func (e *Exchange) Over() bool { return e.stream.over }

// Response is what the client has got: nothing as long as the request waits.
func (e *Exchange) Response() Response { return e.stream.result() }

// Leave ends a request that is not over: the client has gone.
func (e *Exchange) Leave(ctx context.Context) error {
	if e.stream.over {
		return nil
	}
	return e.stream.end(ctx)
}

// carryOn does what the guest wants done with requests that wait, once its
// callback has returned.
func (vm *VM) carryOn(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(vm.streams)) {
		if s := vm.streams[id]; s.waits && (s.resumed || s.reply != nil) {
			if err := s.respond(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
