package regular

import "os"

// TryLock takes an exclusive lock on a file or directory. It returns false if the file is
// locked through another os.File, by this process or another one. The lock ends when the
// file is closed or the process ends. Unless CanLock, it returns errors.ErrUnsupported.
func TryLock(f *os.File) (bool, error) { return flock(f, exclusive|nonblocking) }

// TryShare is TryLock with a lock that others may share: it returns false only if the file
// is locked exclusively.
func TryShare(f *os.File) (bool, error) { return flock(f, shared|nonblocking) }

// Lock is TryLock, but it waits until no one else has the file locked.
func Lock(f *os.File) error {
	_, err := flock(f, exclusive)
	return err
}

// Share is TryShare, but it waits until no one else has the file locked exclusively.
func Share(f *os.File) error {
	_, err := flock(f, shared)
	return err
}
