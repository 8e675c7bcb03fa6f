package envoyproc_test

import (
	"fmt"
	"testing"

	"github.com/weirproxy/weir/e2e/envoyproc"
)

func ExamplePatch() {
	file := []byte("address: 0.0.0.0\nport_value: 10000\n")
	config, err := envoyproc.Patch(file, map[string]string{
		"0.0.0.0":           "127.0.0.1",
		"port_value: 10000": "port_value: 0",
	})
	fmt.Printf("%s%v\n", config, err)

	_, err = envoyproc.Patch(file, map[string]string{"port_value: 8080": "port_value: 0"})
	fmt.Println(err)
	// Output:
	// address: 127.0.0.1
	// port_value: 0
	// <nil>
	// patch: the config does not contain "port_value: 8080"
}

func TestPatch(t *testing.T) {
	tests := []struct {
		name         string
		config       string
		replacements map[string]string
		want         string
		wantErr      string
	}{
		{name: "nothing to do", config: "a", want: "a"},
		{name: "every occurrence", config: "a b a", replacements: map[string]string{"a": "x"}, want: "x b x"},
		{name: "replaced text is left alone", config: "a b", replacements: map[string]string{"a": "b", "b": "a"}, want: "b a"},
		{name: "the longer wins", config: "80 8080", replacements: map[string]string{"80": "1", "8080": "2"}, want: "1 2"},
		{name: "empty", config: "a", replacements: map[string]string{"": "x"}, wantErr: `patch: the config does not contain ""`},
		{
			name: "all missing ones are named", config: "a",
			replacements: map[string]string{"a": "x", "b": "x", "c": "x"},
			wantErr:      "patch: the config does not contain \"b\"\npatch: the config does not contain \"c\"",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := envoyproc.Patch([]byte(tt.config), tt.replacements)
			if fmt.Sprint(err) != tt.wantErr && (err != nil || tt.wantErr != "") {
				t.Errorf("Patch error = %v, want %q", err, tt.wantErr)
			}
			if string(got) != tt.want {
				t.Errorf("Patch = %q, want %q", got, tt.want)
			}
		})
	}
}
