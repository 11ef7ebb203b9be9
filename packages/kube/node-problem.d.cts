export function nodeProblem(found: string, range: string): string | undefined;
