import { Registry } from 'prom-client';
import { expect, test } from 'vitest';

import { metricsIn } from './metrics-in.ts';

test('a metric is made when it is first asked for, and is the same from then on', async () => {
  const registry = new Registry();
  metricsIn(registry).counter('shop_sales_total', 'Sales.', ['city']).inc({ city: 'Ulm' });
  metricsIn(registry).counter('shop_sales_total', 'Sales.', ['city']).inc({ city: 'Ulm' });
  metricsIn(registry).gauge('shop_open', 'Whether it is open.').set(1);
  metricsIn(registry).histogram('shop_visit_seconds', 'Length of visits.', [], [1, 10]).observe(5);
  const text = await registry.metrics();
  expect(text).toContain('shop_sales_total{city="Ulm"} 2');
  expect(text).toContain('shop_open 1');
  expect(text).toContain('shop_visit_seconds_bucket{le="10"} 1');
});
