package mcp

import (
	"net/url"
	"path/filepath"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// rootList are the folders that the server is told. Each must be one that tools
// may enter still.
func (t *server) rootList() ([]*sdk.Root, error) {
	var out []*sdk.Root
	for i, dir := range t.roots {
		tree, err := dir.Open()
		if err != nil {
			return nil, err
		}
		tree.Close()
		at := url.URL{Scheme: "file", Path: filepath.ToSlash(dir.Dir())}
		out = append(out, &sdk.Root{URI: at.String(), Name: t.config.Roots[i]})
	}
	return out, nil
}
