// Asks once whether cookies may be set, and remembers the answer for half a year.
(function () {
  "use strict";
  const NAME = "hp_consent";
  const banner = document.getElementById("consent");
  if (!banner || document.cookie.split("; ").some((cookie) => cookie.startsWith(NAME + "="))) {
    return;
  }
  function answer(choice) {
    document.cookie = NAME + "=" + choice + "; path=/; max-age=" + 180 * 24 * 3600 + "; SameSite=Lax";
    banner.hidden = true;
    document.documentElement.classList.remove("hp-asking");
  }
  banner.querySelectorAll("button").forEach((button) => {
    button.addEventListener("click", () => answer(button.value));
  });
  banner.hidden = false;
  document.documentElement.classList.add("hp-asking");
})();
