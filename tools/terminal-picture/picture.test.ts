import { expect, test } from 'vitest';

import { Screen, textOf } from './screen.ts';
import { svgOf } from './svg.ts';

const red = '\u001B[31mno\u001B[0m';

test('lines that are drawn over are replaced, those above stay', () => {
  const screen = new Screen();
  screen.write('first\r\nold\r\nolder\r\n', 10);
  screen.write('\u001B[2A\u001B[0Jsecond\r\n', 20);
  screen.write('new\r\n', 30);
  expect(screen.lines().map((line) => [textOf(line), line.atMs])).toEqual([
    ['first', 10],
    ['second', 20],
    ['new', 30],
  ]);
});

test('a sequence it does not know is an error, not a wrong picture', () => {
  expect(() => new Screen().write('\u001B[5C', 0)).toThrow('ESC[5C');
});

test('colours and moments reach the picture, and text stays text', () => {
  const screen = new Screen();
  screen.write(`a <b> & ${red} c\r\n`, 1500);
  const svg = svgOf(screen.lines(), { columns: 40, title: 'x' });
  expect(svg).toContain('animation-delay:1.50s">a &lt;b&gt; &amp; <tspan fill="#ff7b72">no</tspan> c</text>');
});
