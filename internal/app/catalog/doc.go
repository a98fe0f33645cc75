// Package catalog is the set of components that main puts together and hands
// down, for compiling specs and for connecting programs. It knows no component.
package catalog
