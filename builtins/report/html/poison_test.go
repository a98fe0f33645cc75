package html_test

import (
	"encoding/json"
	"reflect"
	"time"

	"github.com/pexctl/pex/eval/report"
	"github.com/pexctl/pex/eval/trial"
)

// poisoned returns a report and a row in which every text of every field is p, including
// map keys, and each list has one element. Fields added later are covered automatically.
func poisoned(p string) (*report.Report, *trial.Row) {
	r, row, line := &report.Report{}, &trial.Row{}, &report.CaseStats{}
	for _, v := range []any{r, row, line} {
		poison(reflect.ValueOf(v).Elem(), p)
	}
	r.Cases = report.CasesOf(*line)
	row.Run.Plan.Steps[0].ID = "other" // a step that did not run, in addition to the one that did
	return r, row
}

func poison(v reflect.Value, p string) {
	switch at := v.Addr().Interface().(type) {
	case *json.RawMessage:
		data, err := json.Marshal(map[string]string{p: p})
		if err != nil {
			panic(err)
		}
		*at = data
		return
	case *time.Time:
		*at = time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)
		return
	case *report.Cases:
		return
	}
	poisonKind(v, p)
}

func poisonKind(v reflect.Value, p string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(p)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Interface:
		if v.NumMethod() == 0 { // any value; errors are never shown
			v.Set(reflect.ValueOf(map[string]any{p: []any{p, 1.0}}))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		poison(v.Elem(), p)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		poison(v.Index(0), p)
	case reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		poison(value, p)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(p).Convert(v.Type().Key()), value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i), p)
			}
		}
	default:
		panic("unsupported kind of field: " + v.Kind().String())
	}
}
