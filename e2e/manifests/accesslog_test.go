package manifests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// logged are the lines of the access log, each of which must say what was decided by
// the rule per-ip.
func logged(t *testing.T, log string) (lines []string) {
	t.Helper()
	for line := range strings.Lines(log) {
		var l struct {
			Rule      string `json:"weir_rule"`
			Remaining string `json:"weir_remaining"`
			Details   string `json:"response_code_details"`
			Code      int    `json:"response_code"`
		}
		if json.Unmarshal([]byte(line), &l) != nil {
			continue // a line of Envoy's own log
		}
		refused := l.Code == 429 && l.Rule == "per-ip" && l.Details == "local_rate_limited{per-ip}"
		admitted := l.Code == 200 && l.Rule == "" && l.Details == "direct_response"
		if !refused && !admitted || !strings.Contains(l.Remaining, `"per-ip";r=`) {
			t.Errorf("logged: %s", line)
		}
		lines = append(lines, line)
	}
	return lines
}

// replays decides the requests of a log again, by the tool.
func replays(t *testing.T, configuration any, lines []string, want string) {
	t.Helper()
	dir := t.TempDir()
	config, log := filepath.Join(dir, "limit.json"), filepath.Join(dir, "access.log")
	for file, text := range map[string]string{config: string(toJSON(t, configuration)), log: strings.Join(lines, "")} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(tool(t), "replay", "-c", config, log).CombinedOutput()
	if err != nil || !strings.Contains(string(out), want) {
		t.Errorf("replay: %v, want %q in\n%s", err, want, out)
	}
}
