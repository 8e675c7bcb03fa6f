package wasmhost

import "sync"

// The types of a metric. A metric's id has its type in the low two bits.
const (
	counter   = 0
	gauge     = 1
	histogram = 2

	metricTypeBits = 2
	metricTypeMask = 1<<metricTypeBits - 1
)

// Metrics are the counters, gauges and histograms that the VMs of a process
// define. The same type and name is the same metric in every VM. Envoy publishes
// them with "wasmcustom." in front. They are safe for concurrent use.
type Metrics struct {
	mu   sync.Mutex
	ids  map[metricKey]uint32
	list []metric // the metric with id n is list[n>>metricTypeBits]
}

type metricKey struct {
	kind uint32
	name string
}

type metric struct {
	metricKey
	value int64
}

func newMetrics() *Metrics { return &Metrics{ids: map[metricKey]uint32{}} }

// Get returns the value of the metric: of a histogram, how many values it took.
func (m *Metrics) Get(name string) (value int64, ok bool) {
	value, ok = m.Snapshot()[name]
	return value, ok
}

// Snapshot returns the values of all metrics by name, as Get would.
func (m *Metrics) Snapshot() map[string]int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	values := make(map[string]int64, len(m.list))
	for _, metric := range m.list {
		values[metric.name] = metric.value
	}
	return values
}

func (m *Metrics) define(kind uint32, name string) (id uint32, status Status) {
	if kind > histogram {
		return 0, BadArgument
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	key := metricKey{kind, name}
	id, ok := m.ids[key]
	if !ok {
		id = uint32(len(m.list))<<metricTypeBits | kind
		m.ids[key] = id
		m.list = append(m.list, metric{metricKey: key})
	}
	return id, OK
}

// find returns the metric with the id, or nil. The caller holds the lock.
func (m *Metrics) find(id uint32) *metric {
	index := id >> metricTypeBits
	if int(index) >= len(m.list) || m.list[index].kind != id&metricTypeMask {
		return nil
	}
	return &m.list[index]
}

// increment moves a counter up, by at least 1, or a gauge either way.
func (m *Metrics) increment(id uint32, offset int64) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	kind, metric := id&metricTypeMask, m.find(id)
	switch {
	case kind > gauge:
		return BadArgument
	case metric == nil:
		return NotFound
	case kind == counter && offset <= 0:
		return BadArgument
	}
	metric.value += offset
	return OK
}

// record adds to a counter, sets a gauge, or gives a histogram one more value.
func (m *Metrics) record(id uint32, value uint64) Status {
	m.mu.Lock()
	defer m.mu.Unlock()
	metric := m.find(id)
	if metric == nil {
		return NotFound
	}
	switch metric.kind {
	case counter:
		metric.value += int64(value)
	case gauge:
		metric.value = int64(value)
	case histogram:
		metric.value++
	}
	return OK
}

// read answers the guest. A histogram cannot be read.
func (m *Metrics) read(id uint32) (value uint64, status Status) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id&metricTypeMask > gauge {
		return 0, BadArgument
	}
	metric := m.find(id)
	if metric == nil {
		return 0, NotFound
	}
	return uint64(metric.value), OK
}
