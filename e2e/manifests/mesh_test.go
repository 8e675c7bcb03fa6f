package manifests

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// meshLog is a log of the mesh's own to the output that access-log.yaml writes to,
// in JSON, with some of Istio's fields.
var meshLog = object{"name": "mesh", "typed_config": object{
	"@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", "path": "/dev/stdout",
	"log_format": object{"json_format": object{
		"start_time": "%START_TIME%", "method": "%REQ(:METHOD)%", "path": "%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%",
		"authority": "%REQ(:AUTHORITY)%", "response_code": "%RESPONSE_CODE%", "response_code_details": "%RESPONSE_CODE_DETAILS%",
		"downstream_remote_address": "%DOWNSTREAM_REMOTE_ADDRESS%", "duration": "%DURATION%",
	}},
}}

// meshTags are labels in Istio's own bootstrap that names of Weir can meet.
var meshTags = []any{
	object{"tag_name": "response_code", "regex": `_rq(_(\d{3}))$`},
	object{"tag_name": "cache", "regex": `(cache\.(.+?)\.)`},
	object{"tag_name": "component", "regex": `(component\.(.+?)\.)`},
	object{"tag_name": "authz_enforce_result", "regex": `rbac(\.(allowed|denied))`},
	object{"tag_name": "authz_dry_run_result", "regex": `(\.shadow_(allowed|denied))`},
}

// TestIstioTags holds what Istio's page says of names that end in rbac and cache.
func TestIstioTags(t *testing.T) {
	i := startIstio(t, rewritten(t, one(t, "istio/gateway.yaml", "WasmPlugin"),
		`"requests":50,"window":"1s"`, `"requests":2,"window":"1h"`, `"per-ip"`, `"geo-rbac"`, `"pluginName":"weir"`, `"pluginName":"api-cache"`))
	i.wants(3, tally{200: 2, 429: 1})
	said := admin(t, i.Process, "/stats/prometheus?filter=weir")
	for _, want := range []string{
		`weir_rule_limited{cache="geo-rbac",weir_namespace="api-cache",weir_rule="geo-rbac"} 1`,
		`weir_rule{cache="geo-rbac",authz_enforce_result="allowed",weir_namespace="api-cache",weir_rule="geo-rbac"} 2`,
		`weir_rule_allowed{cache="per-api-key",weir_namespace="api-cache",weir_rule="per-api-key"} 0`,
	} {
		if !strings.Contains(said, want+"\n") {
			t.Errorf("no %s in\n%s", want, said)
		}
	}
}

// matched are the texts that an expression finds in files of ours: one and the same in
// all of them.
func matched(t *testing.T, pattern string, files ...string) (found string) {
	t.Helper()
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		all := regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1)
		for _, m := range all {
			if found != "" && m[1] != found {
				t.Fatalf("%s: %q, and elsewhere %q", file, m[1], found)
			}
			found = m[1]
		}
		if len(all) == 0 {
			t.Fatalf("%s: nothing like %s", file, pattern)
		}
	}
	return found
}

// isItThere is the address by which install.md looks whether Weir is there.
func isItThere(t *testing.T) string {
	t.Helper()
	return matched(t, `(stats\?filter=[^']+)'`, "install.md")
}

// keptOfLog are the lines that the pages have grep keep.
func keptOfLog(t *testing.T, log string) string {
	t.Helper()
	grep := exec.Command("grep", matched(t, `\| grep '([^']+)' \| weir replay`, "rollout.md", "istio/access-log.yaml"))
	grep.Stdin = strings.NewReader(log)
	kept, err := grep.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(kept)
}
