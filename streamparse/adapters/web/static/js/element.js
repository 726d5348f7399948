/**
 * Makes elements out of text, never out of markup: what a model wrote only ever becomes a text node.
 *
 * In:  a tag, properties (`class`, `data-…`, `aria-…`, and attributes by name), and children (nodes or texts).
 * Out: the element.
 */

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

/** A copy of the content of the `<template>` with this id. */
export function copyOf(id) {
  return document.getElementById(id).content.firstElementChild.cloneNode(true);
}
