// Numbers every control in the order of the text, and tells what it is.
[...document.querySelectorAll('a[href], button, select, input, summary, [tabindex="0"]')]
  .filter((element) => element.tabIndex >= 0 && element.checkVisibility({ visibilityProperty: true }) && !element.disabled)
  .map((element, i) => {
    element.dataset.stop = i;
    return `${element.tagName} .${element.className} ${(element.textContent || element.href || '').slice(0, 40)}`;
  })
