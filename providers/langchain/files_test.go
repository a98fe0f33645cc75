package langchain_test

import (
	"testing"

	"github.com/pexctl/pex/engine/model"
	"github.com/pexctl/pex/internal/httpclient"
	"github.com/pexctl/pex/providers/langchain"
	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

func TestFilesAreRefused(t *testing.T) {
	modelhttptest.NoFiles(t, modelhttptest.Provider{New: func(s model.Settings, change func(*httpclient.Settings)) (model.Model, error) {
		c := langchain.Config{Backend: "ernie"}
		return langchain.New(&c, s, change)
	}})
}
