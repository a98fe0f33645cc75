package runs

import (
	"errors"

	"github.com/pexctl/pex/engine/journal"
	"github.com/pexctl/pex/engine/runtime"
)

// Adopt stores a run that has ended elsewhere, from its records. A run that is stored already
// remains as it is.
func (s *Service) Adopt(recs []journal.Record) error {
	start, err := runtime.ReadStart(recs)
	if err != nil {
		return &StartError{err}
	}
	f, err := s.home.Create(start.Input.RunID)
	if _, exists := errors.AsType[*journal.ExistsError](err); exists {
		return nil
	}
	if err != nil {
		return err
	}
	t, err := f.Append(recs)
	if err == nil {
		err = t.Wait()
	}
	return errors.Join(err, f.Close())
}
