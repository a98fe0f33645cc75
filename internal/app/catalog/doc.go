// Package catalog is the set of components that main assembles, for compiling specs and
// connecting programs. It knows no component.
package catalog
