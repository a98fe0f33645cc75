package kernel

import "container/heap"

// virtualQueue holds the started effects of a run in virtual time, ordered by due time,
// then by issue.
type virtualQueue struct{ heap dueHeap }

func (t *virtualQueue) push(e *effect) { heap.Push(&t.heap, e) }

func (t *virtualQueue) pop() { heap.Pop(&t.heap) }

func (t *virtualQueue) first() *effect {
	if len(t.heap) == 0 {
		return nil
	}
	return t.heap[0]
}

type dueHeap []*effect

func (d dueHeap) Len() int { return len(d) }

func (d dueHeap) Less(i, j int) bool {
	if d[i].due != d[j].due {
		return d[i].due < d[j].due
	}
	return d[i].issue < d[j].issue
}

func (d dueHeap) Swap(i, j int) { d[i], d[j] = d[j], d[i] }

func (d *dueHeap) Push(x any) { *d = append(*d, x.(*effect)) }

func (d *dueHeap) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return e
}
