// Unpacks what the page is told, and its script, which the policy of the page knows by its hash, and runs it.
{
  const $ = (id) => document.getElementById(id);
  if (typeof DecompressionStream === "function") {
    const unpacked = (id) => {
      const packed = Uint8Array.from(atob($(id).textContent), (c) => c.charCodeAt(0));
      return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
    };
    Promise.all(["data", "script"].map(unpacked)).then(([told, code]) => {
      $("data").textContent = told;
      document.body.append(Object.assign(document.createElement("script"), { textContent: code }));
    });
  } else {
    const told = Object.assign(document.createElement("p"), { className: "sorry" });
    told.textContent = "This browser cannot unpack the script of this page (DecompressionStream). Any since 2023 can.";
    $("view").replaceWith(told);
    document.documentElement.classList.add("bare");
    for (const page of document.querySelectorAll(".page")) page.classList.toggle("on", page.id !== "controls");
  }
}
