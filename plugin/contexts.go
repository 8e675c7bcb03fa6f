//go:build wasip1

package main

// contexts are what the proxy's ids stand for in this VM: the plugins, one for
// each configuration, and the streams that remember something until their
// response. Most streams do not, and leave no trace here.
var contexts = contextMap{plugins: map[uint32]*plugin{}, streams: map[uint32]*stream{}}

type contextMap struct {
	plugins map[uint32]*plugin
	streams map[uint32]*stream
	newest  uint32 // plugin: most streams have a larger id

	// The stream announced last, which is the next to be asked about: Envoy
	// announces a stream when its headers are there. Of any other host, others
	// may wait.
	latest  announced
	waiting map[uint32]*plugin

	// The calls that the engine has not answered, by their tokens, and the
	// requests that are paused for them.
	pending map[uint32]*pending
	paused  map[uint32]bool
}

type announced struct {
	id     uint32
	plugin *plugin
}

func (c *contextMap) addPlugin(id uint32) {
	c.plugins[id] = new(plugin)
	c.newest = max(c.newest, id)
}

func (c *contextMap) addStream(id, parent uint32) {
	if c.latest.plugin != nil {
		if c.waiting == nil {
			c.waiting = map[uint32]*plugin{}
		}
		c.waiting[c.latest.id] = c.latest.plugin
	}
	c.latest = announced{id, c.plugins[parent]}
}

// pluginOf returns the plugin of a stream that is asked about for the first
// time.
func (c *contextMap) pluginOf(id uint32) (p *plugin) {
	if c.latest.id == id {
		p, c.latest.plugin = c.latest.plugin, nil
		return p
	}
	if len(c.waiting) > 0 {
		p = c.waiting[id]
		delete(c.waiting, id)
	}
	return p
}

// stream returns what a stream remembers, nil if nothing.
func (c *contextMap) stream(id uint32) *stream {
	if len(c.streams) == 0 {
		return nil
	}
	return c.streams[id]
}

// addPending keeps a request that is paused for a call.
func (c *contextMap) addPending(token uint32, q *pending) {
	if c.pending == nil {
		c.pending, c.paused = map[uint32]*pending{}, map[uint32]bool{}
	}
	c.pending[token], c.paused[q.stream] = q, true
	q.plugin.calls++
}

// takePending ends a call, and returns the request that it was made for; nil if
// there is no such call.
func (c *contextMap) takePending(token uint32) *pending {
	q := c.pending[token]
	if q == nil {
		return nil
	}
	delete(c.pending, token)
	q.plugin.calls--
	q.left = !c.paused[q.stream]
	delete(c.paused, q.stream)
	return q
}

func (c *contextMap) delete(id uint32) {
	delete(c.paused, id) // the call goes on, and decides, when the client has left
	if s := c.stream(id); s != nil {
		delete(c.streams, id)
		s.plugin.release(s)
	}
	c.pluginOf(id) // a stream that ended before it began
	if id <= c.newest {
		c.deletePlugin(id)
	}
}

// deletePlugin forgets a plugin and its calls, which the proxy cancels.
func (c *contextMap) deletePlugin(id uint32) {
	p := c.plugins[id]
	if p == nil {
		return
	}
	delete(c.plugins, id)
	for token, q := range c.pending {
		if q.plugin == p {
			delete(c.pending, token)
		}
	}
}
