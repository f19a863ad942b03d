// By figure, the places of checks that count as no claim.
Object.fromEntries([...document.querySelectorAll('section.figure')].map((figure) => [
  figure.id, [...figure.querySelectorAll('.claim')].flatMap((claim, i) => (claim.querySelector('i') ? [i] : [])),
]))
