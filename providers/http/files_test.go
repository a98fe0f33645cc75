package http_test

import (
	"testing"

	"github.com/pexctl/pex/providers/modelhttp/modelhttptest"
)

func TestFilesAreRefused(t *testing.T) { modelhttptest.NoFiles(t, provider()) }
