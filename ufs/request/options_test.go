package request

import (
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/ufs-stream/ufs-stream/internal/testing/must"
	"github.com/ufs-stream/ufs-stream/method"
)

// notOptions are the fields of requests that are no options of the table, and the reasons.
var notOptions = map[string]string{
	"Input.Since": "scan has its own flag, which a statistics file may answer too", "Input.Losses": "set by scan",
	"Input.Paths":          "arguments of a command",
	"Input.Stdin":          "data, not an option",
	"Input.Texts.Recorded": "follows from the source of the other fields",
	"Choice.Options":       "methods declare their options themselves",
	"Choice.Methods":       "the program chooses them",
	"Choice.AutoK":         "option k sets it",
	"Checkpoint.LongRun":   "for tests",
	"Hooks":                "the program receives them",
	"Output":               "every command has it, some without a request",
}

// unrecorded are the options that no record contains, and the reasons.
var unrecorded = map[string]string{
	"stats": "results record the inputs of the statistics", "plan": "results record the inputs of the plan",
	"version": "results record the version of the table that was read", "as-of": "results record the version of the table that was read",
	"anonymous": accessReason, "allow": accessReason, "on-error": "results record the inputs that were read",
	"method": "records have a field for it", "k": "a selection has as many features",
	"threads": limitReason, "memory-limit": limitReason, "temp-dir": limitReason, "max-temp-size": limitReason, "cache": limitReason, "checkpoint": limitReason, "checkpoint-every": limitReason,
}

const (
	accessReason = "concerns access, and no result"
	limitReason  = "changes no result"
)

// TestTableKnowsEveryField: each field of the request is an option of the table, or an exception with a reason; each
// option has a role in records, or a reason for none; and no exception is obsolete.
func TestTableKnowsEveryField(t *testing.T) {
	q := new(Request)
	inTable := make(map[uintptr]string)
	reasons := maps.Clone(unrecorded)
	for _, o := range options {
		address := reflect.ValueOf(o.field(q)).Pointer()
		if other := inTable[address]; other != "" {
			t.Errorf("options %s and %s have the same field", other, o.Name)
		}
		inTable[address] = o.Name
		if _, isException := reasons[o.Name]; isException == o.HasRole(everyRecord) {
			t.Errorf("option %s: a role in records %t, in the list of exceptions %t; want one of them", o.Name, o.HasRole(everyRecord), isException)
		}
		delete(reasons, o.Name)
	}
	for name := range reasons {
		t.Errorf("the exception %s is no option", name)
	}
	exceptions := maps.Clone(notOptions)
	var visit func(name string, v reflect.Value)
	visit = func(prefix string, v reflect.Value) {
		for i := range v.NumField() {
			name, field := prefix+v.Type().Field(i).Name, v.Field(i)
			option, isOption := inTable[field.Addr().Pointer()]
			_, isException := exceptions[name]
			delete(exceptions, name)
			switch {
			case !v.Type().Field(i).IsExported():
			case field.Kind() == reflect.Struct && field.Type() != reflect.TypeFor[time.Time]() && !isException:
				visit(name+".", field)
			case isOption == isException:
				t.Errorf("%s: option %q of the table, in the list of exceptions %t; want one of them", name, option, isException)
			}
		}
	}
	visit("", reflect.ValueOf(q).Elem())
	for name := range exceptions {
		t.Errorf("the exception %s is no field", name)
	}
}

// TestOptionsAreComplete: an option has a part, a section and a help, unless no command has it. Values that it shows
// or sets by default are within its bounds and values.
func TestOptionsAreComplete(t *testing.T) {
	for _, o := range ListParts(AllParts) {
		if o.Section == "" || o.Help == "" {
			t.Errorf("option %s: section %q, help %q; want both", o.Name, o.Section, o.Help)
		}
		if o.Shown != "" && o.Values != nil && !slices.Contains(o.Values, o.Shown) {
			t.Errorf("option %s: its default %q is none of its values", o.Name, o.Shown)
		}
	}
	for _, o := range options {
		if o.Part == 0 && o.Name != OptionCategories && o.Name != OptionFrequencies {
			t.Errorf("option %s: no command has it", o.Name)
		}
		if o.Bounds.Allows != nil && o.Bounds.CheckNumber(o.Name, math.NaN()) == nil {
			t.Errorf("option %s: its bounds allow NaN", o.Name)
		}
	}
}

// newSample returns a request that sets one option, to a value of its kind that records can hold.
func newSample(t *testing.T, o *Option) *Request {
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
		t.Fatalf("option %s is of the unknown kind %T", o.Name, field)
	}
	if o.Name == "scale" {
		q.Choice.Scale = ScaleRank // the only scale that shapes statistics
	}
	return q
}

func checkSameValue(t *testing.T, place string, o *Option, got, want *Request) {
	t.Helper()
	if a, b := recordedValue(got, o), recordedValue(want, o); a != b || a == nil {
		t.Errorf("option %s, read from %s: got %v, want %v", o.Name, place, a, b)
	}
}

// TestRolesKeepValues: in each of its roles, an option that is set is recorded, and read back to the same value.
func TestRolesKeepValues(t *testing.T) {
	for i := range options {
		o := &options[i]
		if !o.HasRole(everyRecord) {
			continue
		}
		q := newSample(t, o)
		for _, record := range []struct {
			place  string
			values any
			role   Role
		}{{"a selection", RecordOptions(q, ShapesAnswer), ShapesAnswer}, {"statistics", StatisticsShape(q), ShapesStatistics}} {
			var decoded method.Settings
			if err := json.Unmarshal(must.Get(json.Marshal(record.values))(t), &decoded); err != nil {
				t.Fatalf("option %s, %s: %v", o.Name, record.place, err)
			}
			if value, isRecorded := decoded[o.Name]; isRecorded != o.HasRole(record.role) {
				t.Errorf("option %s, %s: got %v, want a value %t", o.Name, record.place, value, o.HasRole(record.role))
			} else if isRecorded {
				back := new(Request)
				if isKnown, err := SetOption(back, o.Name, decoded.Text(o.Name)); err != nil || !isKnown {
					t.Errorf("option %s, %s: known %t, error %v", o.Name, record.place, isKnown, err)
				}
				checkSameValue(t, record.place, o, back, q)
			}
		}
		if o.HasRole(MakesFeatures) {
			back := new(Request)
			if err := FillFeatureOptions(back, method.Settings{o.Name: recordedValue(q, o)}); err != nil {
				t.Errorf("option %s: %v", o.Name, err)
			}
			checkSameValue(t, "a selection to apply", o, back, q)
		}
		if o.HasRole(FrozenByPlan | FollowsMethod) {
			back := new(Request)
			FillFromPlan(back, *q)
			checkSameValue(t, "a plan", o, back, q)
		}
		q.Choice.Method = "greedy"
		other := &Request{Choice: Choice{Method: "sfufs"}}
		if FillFromPlan(other, *q); o.isOpen(other) == o.HasRole(FrozenByPlan) {
			t.Errorf("option %s, a plan for another method: left open %t, want %t", o.Name, o.isOpen(other), !o.HasRole(FrozenByPlan))
		}
	}
}

// TestOwnOptionsStay: a plan fills only options that the request leaves open.
func TestOwnOptionsStay(t *testing.T) {
	for i := range options {
		o := &options[i]
		if !o.HasRole(everyRecord) {
			continue
		}
		own, planned := newSample(t, o), newSample(t, o)
		want := recordedValue(own, o)
		switch field := o.field(planned).(type) {
		case *string:
			*field = "other"
		case *[]string:
			*field = []string{"other"}
		}
		FillFromPlan(own, *planned)
		if got := recordedValue(own, o); got != want && o.Name != OptionCategories && o.Name != OptionFrequencies { // they follow {categorical} and {rows-scale}
			t.Errorf("option %s: got %v, want the request's own %v", o.Name, got, want)
		}
	}
}
