package config

import "reflect"

// Files returns the files that a component reads when it is used: the values of the fields of its
// Config with the tag path:"file", as written.
func Files(config any) []string { return filesIn(Struct(config), "") }

func filesIn(v reflect.Value, tag string) (out []string) {
	switch {
	case v.Kind() == reflect.String && tag == "file" && v.String() != "":
		return []string{v.String()}
	case v.Kind() == reflect.Slice && tag == "file":
		for i := range v.Len() {
			out = append(out, filesIn(v.Index(i), tag)...)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return filesIn(v.Elem(), tag)
	case v.Kind() == reflect.Struct && !IsReference(v.Type()):
		fields, _ := Fields([]reflect.Value{v})
		for _, f := range fields {
			out = append(out, filesIn(f.Value, f.Tag.Get("path"))...)
		}
	}
	return out
}
