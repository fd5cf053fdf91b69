package request

import (
	"encoding/json"
	"maps"
	"reflect"
	"testing"

	"github.com/ufs-stream/ufs-stream/chunkio"
	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// unrecorded are the fields of Input, Columns and Choice that are no options of the table, and the reasons.
var unrecorded = map[string]string{
	"Input.Paths":          "results record the inputs themselves, with their fingerprints",
	"Input.Stdin":          "data, not an option",
	"Input.Version":        "results record the version of the table that was read",
	"Input.AsOf":           "results record the version of the table that was read",
	"Input.Anonymous":      "concerns access, and no result",
	"Input.Allow":          "concerns access, and no result",
	"Input.Texts.Recorded": "follows from the source of the other fields",
	"Choice.Method":        "records have a field for it",
	"Choice.Options":       "methods declare their options themselves",
	"Choice.Methods":       "the program chooses them",
	"Choice.K":             "a selection has as many features",
	"Choice.AutoK":         "a selection has as many features as were found",
}

// TestTableKnowsEveryField: a field of the request that shapes a result is an option of the table, or an exception with
// a reason; and no exception is obsolete.
func TestTableKnowsEveryField(t *testing.T) {
	q := new(Request)
	inTable := make(map[uintptr]string)
	for _, o := range options {
		address := reflect.ValueOf(o.field(q)).Pointer()
		if other := inTable[address]; other != "" {
			t.Errorf("options %s and %s have the same field", other, o.name)
		}
		inTable[address] = o.name
	}
	exceptions := maps.Clone(unrecorded)
	var visit func(name string, v reflect.Value)
	visit = func(name string, v reflect.Value) {
		for i := range v.NumField() {
			name, field := name+"."+v.Type().Field(i).Name, v.Field(i)
			option, isOption := inTable[field.Addr().Pointer()]
			_, isException := exceptions[name]
			switch {
			case field.Type() == reflect.TypeFor[chunkio.TextOptions]():
				visit(name, field)
			case isOption == isException:
				t.Errorf("%s: option %q of the table, in the list of exceptions %t; want one of them", name, option, isException)
			}
			delete(exceptions, name)
		}
	}
	visit("Input", reflect.ValueOf(&q.Input).Elem())
	visit("Columns", reflect.ValueOf(&q.Columns).Elem())
	visit("Choice", reflect.ValueOf(&q.Choice).Elem())
	for name := range exceptions {
		t.Errorf("the exception %s is no field", name)
	}
}

// newSample returns a request that sets one option, to a value of its kind that records can hold.
func newSample(t *testing.T, o option) *Request {
	q := new(Request)
	switch field := o.field(q).(type) {
	case *string:
		*field = `a "text", of two`
	case *[]string:
		*field = []string{"a", `b,"c"`, " d\n"}
	case *bool:
		*field = true
	case *int:
		*field = 7
	case *int64:
		*field = 7 << 40
	case *uint64:
		*field, q.SampleRows = 1<<64-1, 1 // a seed shapes statistics if rows are drawn
	case *float64:
		*field = 0.1
	default:
		t.Fatalf("option %s is of the unknown kind %T", o.name, field)
	}
	if o.name == "scale" {
		q.Choice.Scale = ScaleRank // the only scale that shapes statistics
	}
	return q
}

func checkSameValue(t *testing.T, place string, o option, got, want *Request) {
	t.Helper()
	if a, b := recordedValue(got, o), recordedValue(want, o); a != b || a == nil {
		t.Errorf("option %s, read from %s: got %v, want %v", o.name, place, a, b)
	}
}

// TestRolesKeepValues: in each of its roles, an option that is set is recorded, and read back to the same value.
func TestRolesKeepValues(t *testing.T) {
	for _, o := range options {
		q := newSample(t, o)
		for _, record := range []struct {
			place  string
			values any
			role   Role
		}{{"a selection", RecordOptions(q, ShapesAnswer), ShapesAnswer}, {"statistics", StatisticsShape(q), ShapesStatistics}} {
			var decoded method.Settings
			if err := json.Unmarshal(must.Get(json.Marshal(record.values))(t), &decoded); err != nil {
				t.Fatalf("option %s, %s: %v", o.name, record.place, err)
			}
			if value, isRecorded := decoded[o.name]; isRecorded != o.hasRole(record.role) {
				t.Errorf("option %s, %s: got %v, want a value %t", o.name, record.place, value, o.hasRole(record.role))
			} else if isRecorded {
				back := new(Request)
				if isKnown, err := SetOption(back, o.name, decoded.Text(o.name)); err != nil || !isKnown {
					t.Errorf("option %s, %s: known %t, error %v", o.name, record.place, isKnown, err)
				}
				checkSameValue(t, record.place, o, back, q)
			}
		}
		if o.hasRole(MakesFeatures) {
			back := new(Request)
			if err := FillFeatureOptions(back, method.Settings{o.name: recordedValue(q, o)}); err != nil {
				t.Errorf("option %s: %v", o.name, err)
			}
			checkSameValue(t, "a selection to apply", o, back, q)
		}
		if o.hasRole(FrozenByPlan | FollowsMethod) {
			back := new(Request)
			FillFromPlan(back, *q)
			checkSameValue(t, "a plan", o, back, q)
		}
		q.Choice.Method = "greedy"
		other := &Request{Choice: Choice{Method: "sfufs"}}
		if FillFromPlan(other, *q); o.isOpen(other) == o.hasRole(FrozenByPlan) {
			t.Errorf("option %s, a plan for another method: left open %t, want %t", o.name, o.isOpen(other), !o.hasRole(FrozenByPlan))
		}
	}
}

// TestOwnOptionsStay: a plan fills only options that the request leaves open.
func TestOwnOptionsStay(t *testing.T) {
	for _, o := range options {
		own, planned := newSample(t, o), newSample(t, o)
		want := recordedValue(own, o)
		switch field := o.field(planned).(type) {
		case *string:
			*field = "other"
		case *[]string:
			*field = []string{"other"}
		}
		FillFromPlan(own, *planned)
		if got := recordedValue(own, o); got != want && o.name != OptionCategories { // they follow {categorical}
			t.Errorf("option %s: got %v, want the request's own %v", o.name, got, want)
		}
	}
}
