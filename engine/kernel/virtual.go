package kernel

import "container/heap"

// timetable is the started effects of a run in virtual time: the one due first
// stands first, of two the one issued first.
type timetable struct{ heap due }

func (t *timetable) push(e *effect) { heap.Push(&t.heap, e) }

func (t *timetable) pop() { heap.Pop(&t.heap) }

func (t *timetable) first() *effect {
	if len(t.heap) == 0 {
		return nil
	}
	return t.heap[0]
}

type due []*effect

func (d due) Len() int { return len(d) }

func (d due) Less(i, j int) bool {
	if d[i].due != d[j].due {
		return d[i].due < d[j].due
	}
	return d[i].issue < d[j].issue
}

func (d due) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

func (d *due) Push(x any) { *d = append(*d, x.(*effect)) }

func (d *due) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return e
}
