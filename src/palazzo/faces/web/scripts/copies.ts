/** Buttons that copy what a field holds. Without scripts the field can be selected, and there is no button. */

export function offerCopies(page: Document): void {
  for (const button of page.querySelectorAll<HTMLButtonElement>("button[data-copy]")) {
    const field = page.getElementById(button.dataset["copy"] ?? "");
    if (!(field instanceof HTMLInputElement)) continue;
    button.hidden = false;
    button.addEventListener("click", () => {
      field.select();
      void navigator.clipboard.writeText(field.value).then(() => {
        button.textContent = "Copied";
      });
    });
  }
}
