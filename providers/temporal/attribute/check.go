package attribute

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"

	"github.com/pexctl/pex/engine/text"
)

// MissingError reports that a namespace does not have all attributes.
type MissingError struct {
	Namespace string
	Missing   []Attribute
}

// Error names the attributes and the command that creates them.
func (e *MissingError) Error() string {
	names := make([]string, len(e.Missing))
	for i, a := range e.Missing {
		names[i] = a.Name
	}
	return fmt.Sprintf("the namespace %s has no search attributes %s; create them with `%s`, or let pexctl worker --create-attributes do it",
		e.Namespace, strings.Join(names, ", "), e.Command())
}

// Command returns the command of Temporal's command line that creates the attributes.
func (e *MissingError) Command() string {
	var b strings.Builder
	fmt.Fprintf(&b, "temporal operator search-attribute create --namespace %s", text.ShellWord(e.Namespace))
	for _, a := range e.Missing {
		fmt.Fprintf(&b, " --name %s --type %s", a.Name, a.Type)
	}
	return b.String()
}

// TypeError reports that attributes of a namespace have other types than those of runs.
type TypeError struct {
	Namespace string
	Wrong     []Attribute // with their types in the namespace
}

// Error names the attributes and both types.
func (e *TypeError) Error() string {
	want := map[string]enums.IndexedValueType{}
	for _, a := range All() {
		want[a.Name] = a.Type
	}
	wrong := make([]string, len(e.Wrong))
	for i, a := range e.Wrong {
		wrong[i] = fmt.Sprintf("%s is %s instead of %s", a.Name, a.Type, want[a.Name])
	}
	return fmt.Sprintf("search attributes of the namespace %s have other types: %s; remove them with `temporal operator search-attribute remove`, or use another namespace",
		e.Namespace, strings.Join(wrong, ", "))
}

// Check makes sure that a namespace has all attributes with their types. The error may be a
// *MissingError or a *TypeError.
func Check(ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string) error {
	r, err := operator.ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return fmt.Errorf("list the search attributes of the namespace %s: %w", namespace, err)
	}
	wrong, missing := &TypeError{Namespace: namespace}, &MissingError{Namespace: namespace}
	for _, a := range All() {
		switch is, ok := r.GetCustomAttributes()[a.Name]; {
		case !ok:
			missing.Missing = append(missing.Missing, a)
		case is != a.Type:
			wrong.Wrong = append(wrong.Wrong, Attribute{a.Name, is})
		}
	}
	switch {
	case len(wrong.Wrong) > 0:
		return wrong
	case len(missing.Missing) > 0:
		return missing
	}
	return nil
}

// Create creates the attributes that a namespace does not have. Several processes may call it at
// once. A server may need some seconds until it accepts new attributes.
func Create(ctx context.Context, operator operatorservice.OperatorServiceClient, namespace string) error {
	const attempts = 3 // another process may create some of them at the same time
	for attempt := 1; ; attempt++ {
		err := Check(ctx, operator, namespace)
		var missing *MissingError
		if !errors.As(err, &missing) {
			return err
		}
		types := map[string]enums.IndexedValueType{}
		for _, a := range missing.Missing {
			types[a.Name] = a.Type
		}
		_, err = operator.AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{Namespace: namespace, SearchAttributes: types})
		var exists *serviceerror.AlreadyExists
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &exists) || attempt == attempts:
			return fmt.Errorf("create the search attributes of the namespace %s: %w", namespace, err)
		}
	}
}
