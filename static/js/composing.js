// Returns whether the key belongs to an input method that composes text, such as Japanese. Safari
// reports the key that ends a composition after its end, as 229.
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229;
}
