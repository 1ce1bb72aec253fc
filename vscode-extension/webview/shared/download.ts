/** Gives the user a file, as browsers do. */

export function download(name: string, content: string | Uint8Array): void {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(new Blob([typeof content === "string" ? content : content.slice()]));
  link.click();
  setTimeout(() => { URL.revokeObjectURL(link.href); }, 10_000);
}
