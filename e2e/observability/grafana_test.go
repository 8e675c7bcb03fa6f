package observability

import (
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	grafana "github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// TestGrafana: Grafana's own types take the dashboard, strictly. A kind of panel or of
// query that is not named here would go unchecked, and so must not occur.
func TestGrafana(t *testing.T) {
	types := cog.NewRuntime()
	types.RegisterPanelcfgVariant(timeseries.VariantConfig())
	types.RegisterPanelcfgVariant(stat.VariantConfig())
	types.RegisterPanelcfgVariant(bargauge.VariantConfig())
	types.RegisterDataqueryVariant(prometheus.VariantConfig())
	for _, p := range readDashboard(t).Panels {
		switch p.Type {
		case "row", "timeseries", "stat", "bargauge":
		default:
			t.Errorf("%s: nobody checks panels of the type %q", p.Title, p.Type)
		}
	}
	//lint:ignore SA1019 The new model is for Grafana's API, and this one for files to import.
	var d grafana.Dashboard
	// It returns an empty list of errors, and not nil, if all is well.
	if err := d.UnmarshalJSONStrict([]byte(readFile(t, "dashboard.json"))); err != nil && err.Error() != "" {
		t.Fatal(err)
	}
	if err := d.Validate(); err != nil {
		t.Error(err)
	}
}
