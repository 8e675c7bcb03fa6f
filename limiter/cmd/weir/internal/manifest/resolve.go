package manifest

import (
	"fmt"
	"math"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// yaml11 are the words that are no strings for kubectl, Istio and all that reads
// YAML with sigs.k8s.io/yaml, which keeps to YAML 1.1, though yaml/v3 reads them
// as strings.
var yaml11 = map[string]string{
	"y": "true", "Y": "true", "yes": "true", "Yes": "true", "YES": "true", "on": "true", "On": "true", "ON": "true",
	"n": "false", "N": "false", "no": "false", "No": "false", "NO": "false", "off": "false", "Off": "false", "OFF": "false",
}

// resolve returns what a scalar is in JSON. A number that JSON can write stays
// as it is written. Timestamps, binary data and tags of others are strings.
func resolve(y *yaml.Node) (kind, string) {
	switch tag := y.ShortTag(); {
	case y.Style == 0 && yaml11[y.Value] != "":
		return literal, yaml11[y.Value]
	case tag == "!!null":
		return literal, "null"
	case tag == "!!bool":
		return literal, strings.ToLower(y.Value)
	case tag == "!!int" || tag == "!!float":
		return number(y)
	default:
		return text, y.Value
	}
}

func number(y *yaml.Node) (kind, string) {
	if v := jsontext.Value(y.Value); v.IsValid() && v.Kind() == '0' && strings.TrimSpace(y.Value) == y.Value {
		return literal, y.Value
	}
	var value any
	if err := y.Decode(&value); err != nil {
		return broken, fmt.Sprintf("%q is not a number", y.Value)
	}
	switch v := value.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return broken, fmt.Sprintf("%s is a number that JSON does not have", y.Value)
		}
		return literal, jsontext.Float(v).String()
	case int, int64, uint64:
		return literal, fmt.Sprint(v)
	}
	return text, y.Value
}
