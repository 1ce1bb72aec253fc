export const ROOT: string;
export const HOME: string;
export const CODE_SERVER: string;
export const ENTRY: string;
export class Unavailable extends Error {}
export function chromium(): string | undefined;
export function setup(): void;
