// Package disktest simulates power losses.
//
//	disk := disktest.Watch(t, dir)           syncs below dir are simulated from now on
//	image := disk.Image()                    what is durable at this point, and what is only written
//	image.Write(other, disktest.Durable)     the directory after a power loss at this point
//
// A sync makes durable what a file or a directory contained when the sync started, and only
// when it has completed. Whatever is written later may or may not be on disk after a power
// loss; a test decides about it per file.
//
// The package sees the syncs of package regular only. It does not follow renamed files.
package disktest
