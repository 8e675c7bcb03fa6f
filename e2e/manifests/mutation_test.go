package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// free are names whose members are the user's own to name.
var free = []string{"matchLabels", "labels", "json", "json_format"}

// TestMisspelt misspells every name in every manifest, one at a time: each must be
// refused.
func TestMisspelt(t *testing.T) {
	count := map[string]int{}
	for _, file := range files(t) {
		for _, d := range read(t, file) {
			for _, path := range names(d.value, nil) {
				count[d.kind()]++
				if err := check(misspell(d, path)); err == nil {
					t.Errorf("%s: %s: misspelt, and nothing refuses it", d.name, spell(path))
				}
			}
		}
	}
	for kind := range kinds {
		if count[kind] == 0 {
			t.Errorf("nothing was misspelt in any %s", kind)
		}
	}
	t.Logf("names misspelt: %v", count)
}

// TestWrongValue puts a value that its field has not in the place of a right one.
func TestWrongValue(t *testing.T) {
	for _, c := range []struct{ file, kind, right, wrong string }{
		{"istio/gateway.yaml", "WasmPlugin", `"phase":"AUTHZ"`, `"phase":"AUTHR"`},
		{"istio/gateway.yaml", "WasmPlugin", `"failStrategy":"FAIL_RELOAD"`, `"failStrategy":"FAIL_CLOSED"`},
		{"istio/gateway.yaml", "WasmPlugin", `"imagePullPolicy":"IfNotPresent"`, `"imagePullPolicy":"Never"`},
		{"istio/gateway.yaml", "WasmPlugin", `"url":"oci://`, `"url":"docker://`},
		{"istio/gateway.yaml", "WasmPlugin", `"priority":10`, `"priority":"high"`},
		{"istio/gateway.yaml", "WasmPlugin", `"window":"1h"`, `"window":"1 hour"`},
		{"istio/gateway-api.yaml", "WasmPlugin", `"targetRefs":`, `"selector":{"matchLabels":{"a":"b"}},"targetRefs":`},
		{"istio/namespace.yaml", "WasmPlugin", `"mode":"SERVER"`, `"mode":"INBOUND"`},
		{"istio/trafficextension.yaml", "TrafficExtension", `"wasm":{`, `"lua":{"inlineCode":"x"},"wasm":{`},
		{"istio/envoyfilter.yaml", "EnvoyFilter", `"operation":"INSERT_BEFORE"`, `"operation":"INSERT"`},
		{"istio/envoyfilter.yaml", "EnvoyFilter", `"failure_policy":"FAIL_RELOAD"`, `"failure_policy":"FAIL_CLOSE"`},
		{"istio/global-redis.yaml", "EnvoyFilter", `"port_value":7379`, `"port_value":73790`},
		{"gateway/gateway.yaml", "EnvoyExtensionPolicy", `"kind":"Gateway"`, `"kind":"Service"`},
		{"gateway/gateway.yaml", "EnvoyExtensionPolicy", `"type":"Image"`, `"type":"HTTP"`},
		{"gateway/patch.yaml", "EnvoyPatchPolicy", `'weir'`, `'another'`},
		{"gateway/patch.yaml", "EnvoyPatchPolicy", `"op":"add"`, `"op":"append"`},
		{"gateway/patch.yaml", "EnvoyPatchPolicy", `"value":"FAIL_RELOAD"`, `"value":"RELOAD"`},
		{"gateway/proxy.yaml", "EnvoyProxy", `"type":"JSON"`, `"type":"Text"`},
		{"gateway/proxy.yaml", "EnvoyProxy", `/stats_config/stats_tags/-`, `/stats_config/tags/-`},
		{"gateway/proxy.yaml", "Gateway", `"protocol":"HTTP"`, `"protocol":"http 1"`},
	} {
		d := one(t, c.file, c.kind)
		text := string(d.json())
		if !strings.Contains(text, c.right) {
			t.Errorf("%s: no %s in it", d.name, c.right)
			continue
		}
		wrong, err := parse(d.name, []byte(strings.Replace(text, c.right, c.wrong, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if err := check(wrong[0]); err == nil {
			t.Errorf("%s: %s, and nothing refuses it", d.name, c.wrong)
		}
	}
}

// names are the paths of all names within a value. A path has names and indexes.
func names(value any, at []any) (paths [][]any) {
	step := func(s any) []any { return append(slices.Clone(at), s) }
	switch v := value.(type) {
	case object:
		own := len(at) > 0 && slices.Contains(free, fmt.Sprint(at[len(at)-1]))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if !own {
				paths = append(paths, step(name))
			}
			paths = append(paths, names(v[name], step(name))...)
		}
	case []any:
		for i, item := range v {
			paths = append(paths, names(item, step(i))...)
		}
	}
	return paths
}

// misspell returns a document in which one name has a letter too many.
func misspell(d document, path []any) document {
	d = d.copy()
	var value any = d.value
	for _, step := range path[:len(path)-1] {
		switch s := step.(type) {
		case string:
			value = value.(object)[s]
		case int:
			value = value.([]any)[s]
		}
	}
	parent, name := value.(object), path[len(path)-1].(string)
	parent[name+"x"] = parent[name]
	delete(parent, name)
	return d
}

func spell(path []any) string {
	var b strings.Builder
	for _, step := range path {
		fmt.Fprintf(&b, "/%v", step)
	}
	return b.String()
}
