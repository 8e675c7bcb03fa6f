package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const schemaFile = "../../envoy/schema.json"

// beyondSchema are the things that a schema cannot say, by what tells them in
// the parser's message. In each the parser is the stricter one.
var beyondSchema = map[string]string{
	"a name twice in an object":             "the field is given twice",
	"a header twice, in any case":           "the header is given twice",
	"a rule name twice":                     "another rule has this name",
	"a limit name twice":                    "another limit is called",
	"a window twice, however it is written": "another limit has the same algorithm and window",
	"the bounds of a duration":              "want a window from 1ms to 366d",
	"days that overflow":                    "not a duration",
	"fractions of a microsecond":            "is not a whole number of microseconds",
	"the time to refill a burst":            "days to refill",
	"the length of an override's key":       "want as many values as the rule's key has parts",
	"an override of a rule without a key":   "the rule has no key to compare with",
	"an override twice":                     "another override is for the same key",
	"an override's address":                 "is not an IP address",
	"an override's constant":                "is not the constant of the key",
	"a default above max":                   "want at most the max of",
	"the syntax of a regular expression":    "not a regular expression",
	"the size of a regular expression":      "the regular expression is too large",
	"an address or range":                   "want an IP address or a range",
	"host bits of a range":                  "the address has bits beyond its prefix",
	"the JSON of a body":                    "not JSON: want JSON in which",
	"a host of nothing but a port":          "want a host",
	"bytes of a namespace":                  "want 1 to 64 bytes",
	"bytes of a regular expression":         "want at most 1000 bytes",
	"bytes that are not UTF-8":              "invalid UTF-8",
	"the bounds of a timeout":               "want a timeout from 1ms to 1m, in whole milliseconds",
	"the parts of a key":                    "the rule's key has no such part",
}

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	s, err := c.Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// verdicts compares the schema's with the parser's, and returns the latter and
// the names of the exceptions that explain a difference.
func verdicts(t *testing.T, s *jsonschema.Schema, what string, data []byte) (good bool, beyond []string) {
	t.Helper()
	schemaErr := validate(s, data)
	_, err := Compile(data, "test")
	if err == nil && schemaErr != nil {
		t.Errorf("%s: the schema is stricter: %v\n%s", what, schemaErr, data)
	}
	if err == nil || schemaErr != nil {
		return err == nil, nil
	}
	for _, problem := range problemsOf(err) {
		explained := false
		for name, message := range beyondSchema {
			if strings.Contains(problem.Error(), message) {
				explained, beyond = true, append(beyond, name)
			}
		}
		if !explained {
			t.Errorf("%s: the schema is laxer: %v\n%s", what, problem, data)
		}
	}
	return false, beyond
}

// validate returns what a schema says of JSON after a byte order mark. That the
// validator panics on exponents which overflow is an error too.
func validate(s *jsonschema.Schema, data []byte) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// problemsOf are the problems that an error of Compile joins.
func problemsOf(err error) []error {
	var problems Problems
	if !errors.As(err, &problems) {
		return []error{err}
	}
	separate := make([]error, len(problems))
	for i, p := range problems {
		separate[i] = p
	}
	return separate
}

func TestSchemaAgreesOnFixtures(t *testing.T) {
	s, seen := compileSchema(t), map[string]bool{}
	for _, dir := range []string{"good", "bad"} {
		for name, data := range fixtures(t, dir) {
			_, beyond := verdicts(t, s, dir+"/"+name, data)
			for _, exception := range beyond {
				seen[exception] = true
			}
		}
	}
	for name := range beyondSchema {
		if !seen[name] {
			t.Errorf("no fixture needs the exception %q", name)
		}
	}
}

func TestSchemaAgreesOnMutations(t *testing.T) {
	s, random := compileSchema(t), rand.New(rand.NewPCG(1, 2))
	names := slices.Sorted(maps.Keys(schemaProperties(t)))
	good := fixtures(t, "good")
	others := slices.Sorted(maps.Keys(good))
	accepted := 0
	rounds := 4000
	if testing.Short() {
		rounds = 400
	}
	for i := range rounds {
		data := good[[]string{"everything", "global-redis", "everything", "global-rls"}[i%4]]
		if i%8 == 0 {
			data = good[others[random.IntN(len(others))]]
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(bytes.TrimPrefix(data, []byte("\ufeff"))))
		if err != nil {
			t.Fatal(err)
		}
		for range 1 + random.IntN(2) {
			value = mutate(random, value, names)
		}
		mutant, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		if good, _ := verdicts(t, s, "mutant", mutant); good {
			accepted++
		}
		if t.Failed() {
			return
		}
	}
	if accepted < rounds/20 || accepted > rounds*2/3 {
		t.Errorf("%d of %d mutants are good, which is too one-sided", accepted, rounds)
	}
}

// edges are values that may be right in one place and are wrong in most.
var edges = []any{
	nil, true, false, "", "x", "x y", "é", "a\x00b", "\n", "/", "/a?b", "a/b", "GET", "get", "Put", "1s", "1ms", "0s", "1d", "24h", "60", "367d", "0.5us",
	"1.5s", "1us", "10.0.0.0/8", "10.0.0.1/8", "::1", "10.0.0.1", "10.0.0.0/", "401", "5xx", "40x", "(", "[a", "text", "json", "problem", "request", "response",
	"sliding_log", "token_bucket", "sliding_buckets", "fixed_window", "{}", ":80", strings.Repeat("a", 64), strings.Repeat("a", 65), strings.Repeat("é", 40),
	strings.Repeat("b", 1000), strings.Repeat("b", 1001), strings.Repeat("é", 600), "retry-after", "allow", "skip",
	"local", "webdis", "20ms", "1500us", strings.Repeat("é", 15), strings.Repeat("é", 16), "user@host", map[string]any{"name": "x", "part": json.Number("0")},
	json.Number("0"), json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("1.0"), json.Number("5e0"), json.Number("64"), json.Number("101"),
	json.Number("429"), json.Number("1000000"), json.Number("1e6"), json.Number("1000001"), json.Number("2147483647"), json.Number("2147483648"),
	json.Number("9007199254740993"), json.Number("-0"), json.Number("1e-1"),
	map[string]any{}, []any{}, []any{"x"}, []any{json.Number("1")}, map[string]any{"x": "y"}, map[string]any{"name": "x"},
}

// a slot is a place in a JSON value.
type slot struct {
	value  any
	object map[string]any // that the value is in, as the member called name
	name   string
	set    func(any)
}

// slots lists every place in a value, in an order that is always the same.
func slots(value any, set func(any)) (all []slot) {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			put := func(x any) { v[name] = x }
			all = append(append(all, slot{v[name], v, name, put}), slots(v[name], put)...)
		}
	case []any:
		for i := range v {
			put := func(x any) { v[i] = x }
			all = append(append(all, slot{value: v[i], set: put}), slots(v[i], put)...)
		}
		all = append(all, slot{value: v, set: set})
	}
	return all
}

// mutate changes one place of a value.
func mutate(random *rand.Rand, value any, names []string) any {
	all := slots(value, func(x any) { value = x })
	if len(all) == 0 {
		return value
	}
	at := all[random.IntN(len(all))]
	edge := edges[random.IntN(len(edges))]
	name := names[random.IntN(len(names))]
	list, isList := at.value.([]any)
	switch op := random.IntN(8); {
	case op == 0 && at.object != nil:
		delete(at.object, at.name)
	case op == 1 && at.object != nil:
		delete(at.object, at.name)
		at.object[[]string{at.name + "x", strings.ToUpper(at.name[:1]) + at.name[1:], name}[random.IntN(3)]] = at.value
	case op == 2 && at.object != nil:
		at.object[name] = edge
	case op <= 3 && isList && len(list) > 0:
		at.set(append(slices.Clone(list), list[random.IntN(len(list))]))
	case op == 4 && isList && len(list) > 0:
		i := random.IntN(len(list))
		at.set(slices.Delete(slices.Clone(list), i, i+1))
	case op == 5:
		at.set(all[random.IntN(len(all))].value)
		if data, err := json.Marshal(value); err != nil || len(data) > 1<<16 { // put into itself
			at.set(edge)
		}
	default:
		at.set(edge)
	}
	return value
}
