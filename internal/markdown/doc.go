// Package markdown draws what an agent says: Markdown in, a small and closed set of HTML elements out.
//
// An agent's words are hostile. This package is the only one besides package views that turns them into HTML, and the only one that writes
// tags itself, so its promises are few and tested with payloads (xss_test.go):
//
//   - What comes out is elements and attributes of the list in the test, and text. Raw HTML is text like any other.
//   - Text, code, the words of a link and its host all go through package display, after Markdown resolved its entities and escapes:
//     what cannot be seen is a mark here too.
//   - A link leads to http, https or mailto, says where it leads, and opens beside the page. An address of any other kind is shown, as text.
//     An image is a link: nothing is loaded because an agent named it.
//   - Nothing is dropped: titles of links, the word after a fence, and definitions that nothing refers to are all there to read.
//   - The time it takes grows with the length of the text and with nothing else. Text that nests too deep, or a paragraph with more
//     punctuation than prose has, is drawn as it was written.
//
// # Reading order
//
// markdown.go reads the blocks and draws them; inline.go draws what stands in a paragraph; link.go decides which addresses may be followed;
// text.go is the only file that writes to the page.
package markdown
