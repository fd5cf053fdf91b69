package planted

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The files are one table: of the same columns, each value by its own place in the whole, however
// many rows there are.
func TestTelemetryFilesAreOneTable(t *testing.T) {
	whole := make(map[string][]any)
	made := Telemetry{Rows: 1000}
	for i := range made.Folders() {
		for _, c := range made.MakeFile(i) {
			v := reflect.ValueOf(c.Values)
			for r := range v.Len() {
				whole[c.Name] = append(whole[c.Name], v.Index(r).Interface())
			}
		}
	}
	sensors := 0
	for f := range made.Factors() {
		sensors += made.SensorCount(f)
	}
	if want := sensors + telemetryNoise + 11; len(whole) != want {
		t.Errorf("%d columns, want %d", len(whole), want)
	}
	ids := make(map[any]bool)
	falls := 0
	for r, id := range whole["customer_id"] {
		ids[id] = true
		if r > 0 && id.(int64) < whole["customer_id"][r-1].(int64) {
			falls++
		}
	}
	if len(ids) != 1000 || falls < 400 {
		t.Errorf("%d different ids, %d of them below the one before", len(ids), falls)
	}
	for name, v := range whole {
		if len(v) != 1000 {
			t.Errorf("%s has %d rows", name, len(v))
		}
		if first, ok := v[0].(float64); ok && (strings.HasPrefix(name, "diag") || strings.HasSuffix(name, "_1")) {
			nulls := 0
			for _, x := range v {
				if math.IsNaN(x.(float64)) {
					nulls++
				}
			}
			// 10 expected; a binomial count is within 4.2 deviations of 3.1.
			if nulls > 23 {
				t.Errorf("%s has %d nulls, the first value is %v", name, nulls, first)
			}
		}
	}
	if _, ok := whole["event_time"][0].(time.Time); !ok {
		t.Error("event_time is no time")
	}
}
