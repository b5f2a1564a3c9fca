package display

// stack counts combining marks in a row. More than maxStack of them climb over
// the lines around, and one without a base would climb on a mark of ours or on
// whatever the page shows before the text.
type stack struct{ end, height int }

const maxStack = 8

func (k *stack) holds(r *rendering, i, size int) bool {
	if k.end != i {
		k.height = 0
	}
	k.end = i + size
	k.height++
	based := i > r.from && r.src[i-1] != '\n' && r.src[i-1] != '\t'
	return based && k.height <= maxStack
}
