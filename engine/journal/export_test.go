package journal

// Disk is the seam through which tests make a disk fail.
type Disk = disk

// Through has every file that the home opens written through f.
func (h *Home) Through(f func(Disk) Disk) { h.wrap = f }
