package envoyproc

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/weirproxy/weir/e2e/child"
)

// adminFile is the file in the private directory in which Envoy leaves the
// address of its admin interface.
const adminFile = "admin-address"

// Admin returns host:port of the admin interface.
func (p *Process) Admin() string { return p.admin }

// ready returns nil once the admin interface says that the workers are serving.
func (p *Process) ready(ctx context.Context, c *child.Process) error {
	// Read at every try: the file may be met before Envoy has filled it.
	addr, err := os.ReadFile(filepath.Join(c.Dir(), adminFile))
	if err != nil {
		return err
	}
	p.admin = string(addr)
	_, err = p.get(ctx, "/ready")
	return err
}

// Listener returns host:port that the named listener is bound to.
func (p *Process) Listener(ctx context.Context, name string) (string, error) {
	var answer struct {
		Listeners []struct {
			Name  string `json:"name"`
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	body, err := p.get(ctx, "/listeners?format=json")
	if err != nil {
		return "", err
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return "", fmt.Errorf("envoy's listeners: %w in %q", err, body)
	}
	var names []string
	for _, l := range answer.Listeners {
		if l.Name == name {
			return net.JoinHostPort(l.Local.Socket.Address, strconv.Itoa(l.Local.Socket.Port)), nil
		}
		names = append(names, l.Name)
	}
	return "", fmt.Errorf("envoy has no listener %q, only %q", name, names)
}

// Stats returns the counters and gauges whose name matches filter, a regular
// expression that need not match the whole name. Those at zero are included,
// histograms are not.
//
// Workers count on their own, so a counter may lag a response by a moment.
func (p *Process) Stats(ctx context.Context, filter string) (map[string]int64, error) {
	query := url.Values{"format": {"json"}, "filter": {filter}}
	body, err := p.get(ctx, "/stats?"+query.Encode())
	if err != nil {
		return nil, err
	}
	var answer struct {
		Stats []struct {
			Name  string          `json:"name"`
			Value json.RawMessage `json:"value"`
		} `json:"stats"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("envoy's statistics: %w in %q", err, body)
	}
	stats := make(map[string]int64)
	for _, s := range answer.Stats {
		// Text readouts are strings, and all histograms are one entry without value.
		if n, err := strconv.ParseInt(string(s.Value), 10, 64); err == nil {
			stats[s.Name] = n
		}
	}
	return stats, nil
}

// get returns the body of an admin page. Another status than 200 is an error.
func (p *Process) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.admin+path, nil)
	if err != nil {
		return nil, err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("envoy's admin interface: %w", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("envoy's admin interface: %q: %w", path, err)
	}
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("envoy's admin interface: %q: %s: %s", path, resp.Status, strings.TrimSpace(string(body)))
	}
	return body, nil
}
