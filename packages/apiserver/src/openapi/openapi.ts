import { pathNotFound } from '../http/misses.ts';
import type { Registry } from '../registry.ts';
import type { ApiRequest, ApiResponse } from '../server.ts';

export function openApi(registry: Registry): (request: ApiRequest, path: string) => Promise<ApiResponse> {
  void registry;
  return async () => pathNotFound();
}
