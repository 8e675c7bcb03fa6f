package observability

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// folder has what is tested.
const folder = "../../envoy/observability/"

type dashboard struct {
	UID           string  `json:"uid"`
	Title         string  `json:"title"`
	SchemaVersion int     `json:"schemaVersion"`
	Panels        []panel `json:"panels"`
	Templating    struct {
		List []variable `json:"list"`
	} `json:"templating"`
}

type variable struct {
	Name, Type string
	Query      any
	AllValue   string
	Datasource source
}

type source struct{ Type, UID string }

type panel struct {
	ID          int
	Type        string
	Title       string
	Description string
	Datasource  source
	GridPos     struct{ H, W, X, Y int }
	FieldConfig struct {
		Defaults struct{ Unit string }
	}
	Panels  []panel
	Targets []struct {
		RefID        string
		Datasource   source
		Expr         string
		LegendFormat string
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal([]byte(readFile(t, "dashboard.json")), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

var variablePattern = regexp.MustCompile(`\$(\w+|\{\w+\})`)

// query is an expression with the variables replaced as Grafana replaces them
// before anybody has chosen anything.
func (d dashboard) query(expr string) (query string, err error) {
	values := map[string]string{"__rate_interval": "5m", "__range": "1h"}
	for _, v := range d.Templating.List {
		switch v.Type {
		case "query":
			values[v.Name] = v.AllValue
		case "textbox":
			values[v.Name] = fmt.Sprint(v.Query)
		}
	}
	query = variablePattern.ReplaceAllStringFunc(expr, func(name string) string {
		value, ok := values[strings.Trim(name, "${}")]
		if !ok || value == "" {
			err = fmt.Errorf("%q: there is no variable %s with a value", expr, name)
		}
		return value
	})
	return query, err
}

// optional says whether a panel may name what Envoy does not emit.
func (p panel) optional() bool { return strings.HasPrefix(p.Title, "Optional: ") }

// TestDashboard: what Grafana would take and show wrongly, without a word.
func TestDashboard(t *testing.T) {
	d := readDashboard(t)
	if d.UID != "weir" || d.Title != "Weir" || d.SchemaVersion != 42 {
		t.Errorf("uid %q, title %q, version %d of the schema", d.UID, d.Title, d.SchemaVersion)
	}
	var names []string
	for _, v := range d.Templating.List {
		names = append(names, v.Name)
	}
	if want := []string{"datasource", "job", "namespace", "rule", "max_keys", "engine"}; !slices.Equal(names, want) {
		t.Errorf("variables %q, want %q", names, want)
	}
	ids, cells := map[int]string{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if other, ok := ids[p.ID]; ok || p.ID == 0 {
			t.Errorf("%q and %q have one id", p.Title, other)
		}
		ids[p.ID] = p.Title
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other, ok := cells[[2]int{x, y}]; ok || x >= 24 {
					t.Fatalf("%q and %q overlap, or it is too wide", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		checkPanel(t, p)
	}
}

var variableSource = source{"prometheus", "${datasource}"}

func checkPanel(t *testing.T, p panel) {
	t.Helper()
	if p.Title == "" || p.GridPos.W == 0 || p.GridPos.H == 0 {
		t.Errorf("panel %d has no title or no size", p.ID)
	}
	if p.Type == "row" {
		if len(p.Panels)+len(p.Targets) != 0 {
			t.Errorf("the row %q has something in it, which is not tested", p.Title)
		}
		return
	}
	if len(p.Description) < 20 || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || p.Datasource != variableSource {
		t.Errorf("%q: description %q, unit %q, %d targets, data of %v", p.Title, p.Description, p.FieldConfig.Defaults.Unit, len(p.Targets), p.Datasource)
	}
	var refs []string
	for _, target := range p.Targets {
		if target.Datasource != variableSource || target.Expr == "" || target.RefID == "" || slices.Contains(refs, target.RefID) {
			t.Errorf("%q: target %+v", p.Title, target)
		}
		refs = append(refs, target.RefID)
	}
}
